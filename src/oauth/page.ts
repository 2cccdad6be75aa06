import type { Scope } from '../operations/core/caller.js';
import { escaped, type Page, pageOf } from '../pages/page.js';
import type { RequestParameters } from './requests.js';

/** What the page shows: a request to say yes to, or what is wrong with it. */
export type AuthorizePage =
  | {
      client: string;
      /** Where the answer goes, in short and as it is. */
      destination: string;
      redirect: string;
      resource: string;
      scopes: readonly Scope[];
      days: number;
      request: RequestParameters;
      /** Where the person goes who says no. */
      back: string;
    }
  | { error: string; client?: string; destination?: string; back?: string };

/** The page on which people say yes. What it shows is data for its script, which puts it in as text. */
export function authorizePages(): (page: AuthorizePage) => Page {
  const { html, headers } = pageOf('authorize.html');
  return (page) => ({
    html: html.replace('{page}', () => escaped(JSON.stringify(page))),
    headers: { ...headers, 'cache-control': 'no-store', 'x-frame-options': 'DENY' },
  });
}
