const KEPT_ASIDE = ['NODE_OPTIONS', 'NODE_PATH', 'NODE_EXTRA_CA_CERTS'];

/** The environment that assay was called with. The launcher has kept aside the variables that would steer node. */
export function readCallerEnvironment(): Record<string, string> {
  // Node has no variable without a value.
  const env = { ...process.env } as Record<string, string>;
  for (const name of KEPT_ASIDE) {
    const value = env[`ASSAY_${name}`];
    delete env[`ASSAY_${name}`];
    if (value) env[name] = value;
  }
  return env;
}
