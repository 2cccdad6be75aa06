import { fold } from '../lookalikes.js';
import type { Rule } from './rule.js';

/** "Ignore the previous instructions" in other languages: what is dropped, and what it is, close to each other. */
const sayings: [verbs: string, orders: string][] = [
  // Spanish, Portuguese, Italian
  [
    'ignora|ignore|ignoren|olvida|olvide|omite|desconsidere|desconsidera|esquece|esqueca|dimentica|non seguire|no sigas',
    'instrucciones (?:anteriores|previas|del sistema)|instrucoes (?:anteriores|previas|do sistema)|istruzioni (?:precedenti|di sistema)|reglas anteriores|regras anteriores|regole precedenti',
  ],
  // French
  [
    'ignore|ignorez|oublie|oubliez|ne suis pas|ne suivez pas',
    '(?:instructions|consignes|regles|directives) (?:precedentes|anterieures|ci-dessus|du systeme)',
  ],
  // German, Dutch
  [
    'ignoriere|ignorier|vergiss|missachte|missachten sie|negeer|vergeet',
    '(?:vorherigen|bisherigen|obigen|fruheren|vorigen|eerdere|vorige|voorgaande) (?:anweisungen|instruktionen|regeln|vorgaben|instructies|opdrachten|regels)',
  ],
  // Polish, Turkish
  [
    'zignoruj|zapomnij|pomin|onceki|yukaridaki',
    '(?:poprzednie|wczesniejsze|powyzsze) (?:instrukcje|polecenia)|(?:talimatlari|komutlari) (?:yok say|unut|gormezden gel)',
  ],
  // Russian, Ukrainian
  [
    'игнорируй|игнорируйте|забудь|забудьте|отмени|ігноруй|забудь',
    '(?:предыдущие|прежние|прошлые|попередні) (?:инструкции|указания|правила|команды|інструкції)',
  ],
];

// These put no spaces between words. The text is folded, and so are they.
const chinese =
  '(?:忽略|无视|忘记|忽視).{0,8}(?:之前|以上|先前|前面|所有).{0,6}(?:指令|指示|提示|规则|說明|说明)';
const japanese = '(?:これまで|以前|上記|前|今まで)の.{0,4}(?:指示|命令|ルール|プロンプト).{0,6}(?:無視|忘れ)';
const korean = '(?:이전|위의|앞의).{0,4}(?:지시|명령|규칙).{0,6}(?:무시|잊)';

/** The most plain of all attacks, in languages other than English. */
export const inOtherLanguages: Rule = {
  id: 'override-foreign',
  family: 'orders',
  weight: 50,
  pattern: new RegExp(
    [
      ...sayings.map(([verbs, orders]) => `(?<![\\p{L}])(?:${fold(verbs)}) .{0,20}(?:${fold(orders)})`),
      ...[chinese, japanese, korean].map(fold),
    ].join('|'),
    'u',
  ),
};
