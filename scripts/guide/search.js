// The search of the guide. Nothing else of the site needs a script.
import MiniSearch from 'minisearch';
import { fields, searchOptions, tokenize } from './ranking.ts';

const byId = (id) => document.getElementById(id);
const { index: address } = document.currentScript.dataset;
const most = 12;
let index;

/** Reads every section of the site once, when somebody wants to search. */
async function load() {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(String(answer.status));
  const made = new MiniSearch({
    fields,
    storeFields: fields,
    tokenize,
    searchOptions,
  });
  made.addAll(await answer.json());
  return made;
}

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** Some words of a section around the first word that was found. */
function excerpt(text, terms) {
  const at = Math.max(
    0,
    Math.min(...terms.map((term) => text.toLowerCase().indexOf(term)).filter((at) => at >= 0)),
  );
  const from = Number.isFinite(at) && at > 40 ? text.indexOf(' ', at - 40) + 1 : 0;
  const part = text.trim().slice(from, from + 120);
  return `${from > 0 ? '…' : ''}${part}${from + 120 < text.length ? '…' : ''}`;
}

function item({ id, title, heading, text, terms }) {
  const link = element('a', '', { href: id });
  link.append(
    element('b', heading === title ? title : `${title} › ${heading}`),
    element('small', excerpt(text, terms)),
  );
  const made = document.createElement('li');
  made.append(link);
  return made;
}

async function search() {
  const query = byId('query').value.trim();
  if (query === '') return close();
  try {
    index ??= load();
    const results = (await index).search(query);
    if (query !== byId('query').value.trim()) return;
    byId('found').replaceChildren(...results.slice(0, most).map(item));
    byId('count').textContent = results.length === 0 ? 'Nothing found' : '';
    byId('found').hidden = results.length === 0;
  } catch {
    index = undefined;
    byId('count').textContent = 'The search is not available now';
  }
}

function close() {
  byId('found').hidden = true;
  byId('count').textContent = '';
}

/** The arrows go through what was found; Enter in the field opens the first. */
function steer(event) {
  const links = [...byId('found').querySelectorAll('a')];
  const at = links.indexOf(document.activeElement);
  if (event.key === 'Escape') {
    close();
    byId('query').focus();
  } else if (event.key === 'Enter' && at < 0) links[0]?.click();
  else if (event.key === 'ArrowDown') (links[at + 1] ?? links[0])?.focus();
  else if (event.key === 'ArrowUp') (at > 0 ? links[at - 1] : byId('query')).focus();
  else return;
  if (event.key !== 'Enter') event.preventDefault();
}

const box = document.querySelector('search');
box.hidden = false;
byId('query').addEventListener('input', search);
byId('query').addEventListener('focus', () => byId('found').childElementCount > 0 && search());
box.addEventListener('keydown', steer);
// a link to a part of the same page opens no new one
byId('found').addEventListener('click', close);
document.addEventListener('click', ({ target }) => box.contains(target) || close());
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName)) return;
  event.preventDefault();
  byId('query').focus();
});
