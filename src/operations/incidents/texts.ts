import { longestRead, Screening, type Thresholds } from '../../../streams/moderation/index.js';

/** What somebody says of a security incident in their own words. */
interface Words {
  title: string;
  category: string | null;
  affected: string[];
  description: string | null;
  fixes: string[];
  sourcePosts: string[];
  advisoryUrls: string[];
}

/** Parts of a long text share so many characters, so that no attack hides where one ends. */
const shared = 200;

/** A report as others may read it: what looks like an attack on agents is left out, also if it is spread over fields. */
export function screenedReport<Report extends Words>(report: Report, thresholds: Thresholds): Report {
  const screening = new Screening(thresholds);
  const make = (screen: (text: string) => string): Report => {
    const one = (text: string) => whole(text, screen);
    const some = (text: string | null) => (text === null ? null : one(text));
    return {
      ...report,
      title: one(report.title),
      category: some(report.category),
      affected: report.affected.map(one),
      description: some(report.description),
      fixes: report.fixes.map(one),
      sourcePosts: report.sourcePosts.map(one),
      advisoryUrls: report.advisoryUrls.map(one),
    };
  };
  const lineOf = ({ title, category, affected, description, fixes }: Words) =>
    [title, category ?? '', affected.join(' '), description ?? '', fixes.join(' ')].join(' ');
  return screening.screened(make, lineOf);
}

/** What somebody says with a vote, as others may read it: an address may carry an attack, and both may carry it together. */
export function screenedVote(
  { evidenceUrl, comment }: { evidenceUrl?: string | null | undefined; comment?: string | null | undefined },
  thresholds: Thresholds,
): { evidenceUrl: string | null; comment: string | null } {
  const make = (screen: (text: string) => string) => ({
    evidenceUrl: evidenceUrl ? whole(evidenceUrl, screen) : null,
    comment: comment ? whole(comment, screen) : null,
  });
  const lineOf = (shown: ReturnType<typeof make>) => [shown.comment ?? '', shown.evidenceUrl ?? ''].join(' ');
  return new Screening(thresholds).screened(make, lineOf);
}

function whole(text: string, screen: (text: string) => string): string {
  for (let from = 0; from === 0 || from + shared < text.length; from += longestRead - shared) {
    const part = text.slice(from, from + longestRead);
    const shown = screen(part);
    if (shown !== part) return shown;
  }
  return text;
}
