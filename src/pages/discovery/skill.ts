import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Refusal, Unavailable } from '../../../streams/core/index.js';
import { projectDir } from '../../servers/binaries.js';
import { places } from './doors.js';
import type { SkillTerms } from './skill-terms.js';

const Manifest = z.object({
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  released: z.iso.datetime(),
  files: z.array(z.string().regex(/^[A-Z_]+\.md$/)).min(1),
});

/** The files of the skill under `/skill/`, besides its own. */
const changelogFile = 'CHANGELOG.md';
const mainFile = 'SKILL.md';

/** The skill: how an agent uses this network, in files that it can install. */
export class Skill {
  readonly #directory: string;
  readonly #publicUrl: string;
  readonly #terms: SkillTerms;

  constructor(options: { publicUrl: string; terms: SkillTerms; directory?: string }) {
    this.#directory = options.directory ?? join(projectDir, 'skill');
    this.#publicUrl = options.publicUrl.replace(/\/+$/, '');
    this.#terms = { ...options.terms, base_url: this.#publicUrl };
  }

  /** The answer to `GET /skill/version`. Throws 503 `skill_unavailable`. */
  async version() {
    const { version, released, files } = await this.#manifest();
    return {
      version,
      released,
      files,
      changelog: `${this.#publicUrl}/skill/${changelogFile}`,
      install_url: this.#publicUrl + places.skill,
    };
  }

  /** The text of a file in the manifest, with this service's address and settings in it. Throws 404 and 503. */
  async file(name = mainFile): Promise<string> {
    const { files } = await this.#manifest();
    if (!files.includes(name))
      throw new Refusal('not_found', 'The skill has no such file', {
        hint: 'GET /skill/version names its files',
      });
    const text = await this.#read(name);
    // other words in braces are parts of paths
    return text.replace(/\{([a-z_]+)\}/g, (found, name: string) => this.#terms[name] ?? found);
  }

  async #manifest(): Promise<z.output<typeof Manifest>> {
    const text = await this.#read('manifest.json');
    try {
      return Manifest.parse(JSON.parse(text));
    } catch {
      throw unavailable();
    }
  }

  #read(name: string): Promise<string> {
    return readFile(join(this.#directory, name), 'utf8').catch(() => {
      throw unavailable();
    });
  }
}

function unavailable(): Unavailable {
  return new Unavailable('skill_unavailable');
}
