/** What a schema cannot know of other code and another policy for a task: that the code parses, and what the policy depends on. */
import { Inject, Injectable } from '@nestjs/common';
import type { Policy } from '#contracts/policy';
import type { TaskDocument } from '#contracts/task';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { SANDBOX, type CodeForm, type Sandbox } from '#sandbox/sandbox';
import { checkDependencies, dependentTask, presentTasks } from './check-dependencies.js';
import { checkCode, createCodeChecker, type CodeChecker } from './check-settings.js';

@Injectable()
export class CandidateChecker {
  readonly #readStore: ReadStore;
  readonly #code: CodeChecker;

  constructor(@Inject(READ_STORE) readStore: ReadStore, @Inject(SANDBOX) sandbox: Sandbox) {
    this.#readStore = readStore;
    this.#code = createCodeChecker(sandbox);
  }

  /** The form of the code, null where there is none. Throws the first fault, naming its field. */
  async check(
    {
      evaluationFunction,
      policy,
    }: { readonly evaluationFunction?: string | undefined; readonly policy?: Policy | undefined },
    task: TaskDocument,
  ): Promise<CodeForm | null> {
    if (policy !== undefined) {
      await checkDependencies(
        presentTasks(this.#readStore),
        task.organizationId,
        policy.dependsOn,
        dependentTask(task),
      );
    }
    return evaluationFunction === undefined ? null : checkCode(this.#code, ['evaluationFunction'], evaluationFunction);
  }
}
