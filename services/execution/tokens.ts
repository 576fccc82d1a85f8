/** Tokens by which this service's module hands its parts their dependencies. */

/** `EvaluationDeps`: what a page is loaded and code is run with. */
export const EVALUATION_DEPS = Symbol('EvaluationDeps');
/** `RunDeps`: what a recorded run needs. */
export const RUN_DEPS = Symbol('RunDeps');
