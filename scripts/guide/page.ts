import type { Rendered } from './markdown.js';
import { addressOf, type Chapter } from './navigation.js';

/** What every page of the site has around its text. */
export interface Frame {
  chapters: Chapter[];
  /** Changes with the sheet of styles and the search, so that browsers ask for them again. */
  version: string;
}

/** A page of the site. `file` is the document that it is made of, where it is one. */
export function page({ title, html, sections }: Rendered, frame: Frame, file = ''): string {
  const asset = (name: string) => `/guide/${name}?v=${frame.version}`;
  const below = sections.filter(({ depth }) => depth === 2);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · Relay Network</title>
<link rel="icon" href="${asset('icon.svg')}">
<link rel="stylesheet" href="${asset('guide.css')}">
<script src="${asset('search.js')}" data-index="${asset('search.json')}" defer></script>
</head>
<body>
<a class="skip" href="#text">To the text</a>
<header>
  <a class="home" href="/guide">Relay Network</a>
  <button type="button" popovertarget="pages">Pages</button>
  <search hidden>
    <input id="query" type="search" placeholder="Search (press /)" aria-label="Search the guide" aria-controls="found" autocomplete="off" spellcheck="false">
    <ol id="found" hidden></ol>
    <span id="count" role="status"></span>
  </search>
  <a class="way" href="/irc/live">Live</a>
  <a class="way" href="/docs">API</a>
</header>
<nav id="pages" popover aria-label="Pages">
${frame.chapters.map((chapter) => chapterHtml(chapter, file, below)).join('\n')}
</nav>
<main id="text" tabindex="-1">
${html}
</main>
</body>
</html>
`;
}

function chapterHtml({ title, pages }: Chapter, open: string, below: Rendered['sections']): string {
  const items = pages.map(({ title, file }) => {
    const here = file === open;
    const link = `<a href="${addressOf(file)}"${here ? ' aria-current="page"' : ''}>${escaped(title)}</a>`;
    const parts = below.map(({ anchor, heading }) => `<li><a href="#${anchor}">${escaped(heading)}</a></li>`);
    return `<li>${link}${here && parts.length > 0 ? `<ul>${parts.join('')}</ul>` : ''}</li>`;
  });
  return `<h2>${escaped(title)}</h2>\n<ul>${items.join('\n')}</ul>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
