// Tables of figures: how they are judged and how they are shown.

/** The lower quartile: of what a shared machine adds, most is in the upper part. */
export function lowerQuartile(sorted) {
  return sorted[Math.floor((sorted.length - 1) / 4)];
}

export function median(sorted) {
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.floor(sorted.length / 2)]) / 2;
}

/**
 * Rows of one comparison. `bar` judges the row against its reference: `ratio` at most so many times as long, `plusMs` at
 * most so many milliseconds more. `less` names what is taken off first.
 */
export function makeTable(title, times, rows, figure = lowerQuartile) {
  const ms = (name) => figure(times.get(name));
  return {
    title,
    rows: rows.map(({ name, against, bar, label, less }) => {
      const base = less ? ms(less) : 0;
      const took = ms(name) - base;
      const reference = against ? ms(against) : undefined;
      const ratio = reference === undefined ? undefined : took / reference;
      const plusMs = reference === undefined ? undefined : took - reference;
      const isMet = bar && ('ratio' in bar ? ratio <= bar.ratio : plusMs <= bar.plusMs);
      return { label: label ?? name, ms: took, against, ratio, plusMs, bar, isMet };
    }),
  };
}

/**
 * Rows of what commands take, from what Bench.weigh() returns. `bar` has the milliseconds of processor time and the MiB,
 * and `ratio` against the reference.
 */
export function makeCostTable(title, costs, rows) {
  return {
    title,
    isCost: true,
    rows: rows.map(({ name, label, against, bar }) => {
      const cpuMs = lowerQuartile(costs.get(name).cpuMs);
      const { mib } = costs.get(name);
      const ratio = against ? cpuMs / lowerQuartile(costs.get(against).cpuMs) : undefined;
      const isMet =
        bar &&
        cpuMs <= (bar.cpuMs ?? Infinity) &&
        mib <= (bar.mib ?? Infinity) &&
        (ratio ?? 0) <= (bar.ratio ?? Infinity);
      return { label: label ?? name, cpuMs, mib, against, ratio, bar, isMet };
    }),
  };
}

function describeCostBar({ bar, isMet }) {
  if (!bar) return '';
  const parts = [
    ...(bar.cpuMs ? [`${bar.cpuMs} ms`] : []),
    ...(bar.ratio ? [bar.ratio.toFixed(2)] : []),
    ...(bar.mib ? [`${bar.mib} MiB`] : []),
  ];
  return `at most ${parts.join(', ')}: ${isMet ? 'met' : 'MISSED'}`;
}

function describeBar({ bar, isMet }) {
  if (!bar) return '';
  let text = `at most ${bar.ratio?.toFixed(2)}`;
  if ('plusMs' in bar) text = `at most +${bar.plusMs.toFixed(bar.plusMs < 0.1 ? 2 : 1)} ms`;
  if ('mib' in bar) text = `at most ${bar.mib} MiB`;
  return `${text}: ${isMet ? 'met' : 'MISSED'}`;
}

/** Microseconds count where there are no more. */
function formatMs(ms) {
  return ms.toFixed(Math.abs(ms) < 0.1 ? 3 : 2);
}

function printTimes({ rows }) {
  console.log(
    `  ${''.padEnd(46)} ${'ms'.padStart(8)} ${'ratio'.padStart(7)} ${'plus ms'.padStart(8)}  of`,
  );
  for (const row of rows) {
    const ratio = row.ratio?.toFixed(2) ?? '';
    const plus = row.plusMs === undefined ? '' : formatMs(row.plusMs);
    const line = `  ${row.label.padEnd(46)} ${formatMs(row.ms).padStart(8)} ${ratio.padStart(7)} ${plus.padStart(8)}  ${(row.against ?? '').padEnd(12)} ${describeBar(row)}`;
    console.log(line.trimEnd());
  }
}

function printMemory({ rows }) {
  console.log(`  ${''.padEnd(50)} ${'MiB'.padStart(7)}  node + helper`);
  for (const row of rows) {
    const parts = `${row.nodeMib.toFixed(0)} + ${row.helperMib.toFixed(0)}`;
    console.log(
      `  ${row.label.padEnd(50)} ${row.mib.toFixed(1).padStart(7)}  ${parts.padEnd(13)} ${describeBar(row)}`,
    );
  }
}

function printCosts({ rows }) {
  console.log(
    `  ${''.padEnd(46)} ${'cpu ms'.padStart(8)} ${'ratio'.padStart(7)} ${'MiB'.padStart(6)}  of`,
  );
  for (const row of rows) {
    const ratio = row.ratio?.toFixed(2) ?? '';
    const line = `  ${row.label.padEnd(46)} ${row.cpuMs.toFixed(0).padStart(8)} ${ratio.padStart(7)} ${row.mib.toFixed(0).padStart(6)}  ${(row.against ?? '').padEnd(12)} ${describeCostBar(row)}`;
    console.log(line.trimEnd());
  }
}

export function printTable(table) {
  console.log(`\n${table.title}`);
  if (table.isMemory) printMemory(table);
  else if (table.isCost) printCosts(table);
  else printTimes(table);
}
