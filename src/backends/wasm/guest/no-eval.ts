/** One of each kind of function, whose constructor makes code out of text. */
const SAMPLES = [function () {}, async function () {}, function* () {}, async function* () {}];

/**
 * Takes every way to `eval` and to the constructors that do the same away, before any code of anybody else runs: they
 * are reached through the global object and through the prototypes of functions, and nowhere else.
 */
export function switchEvalOff(): void {
  const refuse = function (): never {
    throw new EvalError('Code cannot be made out of text here: eval is off');
  };
  // So that `instanceof Function` goes on to say what it says.
  Object.defineProperty(refuse, 'prototype', { value: Function.prototype });
  for (const sample of SAMPLES)
    Object.defineProperty(Object.getPrototypeOf(sample), 'constructor', {
      value: refuse,
      writable: false,
      configurable: false,
    });
  Object.defineProperty(globalThis, 'Function', {
    value: refuse,
    writable: false,
    configurable: false,
  });
  Object.defineProperty(globalThis, 'eval', {
    value: refuse,
    writable: false,
    configurable: false,
  });
}
