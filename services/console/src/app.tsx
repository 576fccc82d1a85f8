/** Providers, and which page stands at which address. Pages but the list are loaded when they are opened. */
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { Suspense, type ReactNode } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { isProblem } from './api/problem.js';
import { Frame } from './frame/frame.js';
import { later } from './frame/later.js';
import { NotFound } from './frame/not-found.js';
import { PageSkeleton } from './frame/page-skeleton.js';
import { ToastProvider } from './frame/toasts.js';
import { HatchPattern } from './marks/run-strip.js';
import { OnlyFor } from './session/only-for.js';
import { SignedIn } from './session/session.js';
import { StreamProvider } from './stream/stream.js';
import { TasksPage } from './tasks/tasks-page.js';
import type { Catalogue } from './text/catalogue.js';
import { TextProvider, type Language } from './text/text.js';

const SignInPage = later(async () => (await import('./session/sign-in-page.js')).SignInPage);
const SetupPage = later(async () => (await import('./session/setup-page.js')).SetupPage);
const InvitationPage = later(async () => (await import('./session/link-pages.js')).InvitationPage);
const NewPasswordPage = later(async () => (await import('./session/link-pages.js')).NewPasswordPage);
const SettingsPage = later(async () => (await import('./settings/settings-page.js')).SettingsPage);
const AuditPage = later(async () => (await import('./audit/audit-page.js')).AuditPage);
const NewTaskPage = later(async () => (await import('./new/new-task-page.js')).NewTaskPage);
const ExecutionsPage = later(async () => (await import('./executions/executions-page.js')).ExecutionsPage);
const ExecutionPage = later(async () => (await import('./executions/execution-page.js')).ExecutionPage);
const DeliveriesPage = later(async () => (await import('./deliveries/deliveries-page.js')).DeliveriesPage);
const DeliveryPage = later(async () => (await import('./deliveries/delivery-page.js')).DeliveryPage);
const TaskPage = later(async () => (await import('./task/task-page.js')).TaskPage);

/**
 * A refusal is final; what did not come through is tried again. A server on this machine or in this house answers where a
 * browser takes itself to be offline, too.
 */
const client = new QueryClient({
  defaultOptions: {
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 10_000,
      retry: (count, error) => count < 2 && (!isProblem(error) || error.status === 0 || error.status >= 500),
      refetchOnWindowFocus: false,
    },
  },
});

function SignedInPages(): ReactNode {
  return (
    <StreamProvider>
      <Frame>
        <Suspense fallback={<PageSkeleton />}>
          <Switch>
            <Route path="/">
              <Redirect to="/tasks" replace />
            </Route>
            <Route path="/tasks" component={TasksPage} />
            <Route path="/new">
              <OnlyFor title="command.newTask" scope="write">
                <NewTaskPage />
              </OnlyFor>
            </Route>
            <Route path="/tasks/:id/:part?">{({ id, part }) => <TaskPage key={id} id={id} part={part ?? ''} />}</Route>
            <Route path="/executions" component={ExecutionsPage} />
            <Route path="/executions/:id">{({ id }) => <ExecutionPage key={id} id={id} />}</Route>
            <Route path="/deliveries" component={DeliveriesPage} />
            <Route path="/deliveries/:id">{({ id }) => <DeliveryPage key={id} id={id} />}</Route>
            <Route path="/audit">
              <OnlyFor title="frame.audit" scope="admin">
                <AuditPage />
              </OnlyFor>
            </Route>
            <Route path="/settings/:part?">{({ part }) => <SettingsPage part={part ?? 'you'} />}</Route>
            <Route component={NotFound} />
          </Switch>
        </Suspense>
      </Frame>
    </StreamProvider>
  );
}

export function App(props: {
  readonly first: { readonly language: Language; readonly catalogue: Catalogue };
}): ReactNode {
  return (
    <CSPProvider disableStyleElements>
      <TextProvider first={props.first}>
        <QueryClientProvider client={client}>
          <ToastProvider>
            <HatchPattern />
            <Suspense fallback={<PageSkeleton />}>
              <Switch>
                <Route path="/sign-in" component={SignInPage} />
                <Route path="/setup" component={SetupPage} />
                <Route path="/invitations/:token">{({ token }) => <InvitationPage token={token} />}</Route>
                <Route path="/password-resets/:token">{({ token }) => <NewPasswordPage token={token} />}</Route>
                <Route>
                  <SignedIn waiting={<PageSkeleton />}>
                    <SignedInPages />
                  </SignedIn>
                </Route>
              </Switch>
            </Suspense>
          </ToastProvider>
        </QueryClientProvider>
      </TextProvider>
    </CSPProvider>
  );
}
