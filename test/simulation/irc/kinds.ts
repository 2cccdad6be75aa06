/** How servers of one make differ from those of another, as far as the product can tell. */
export interface ServerKind {
  readonly name: 'inspircd' | 'ngircd';
  /** What it offers by CAP LS. */
  readonly capabilities: readonly string[];
  /** The tokens of numeric 005, a line each. */
  readonly supports: readonly (readonly string[])[];
  /** Whether operators have SAJOIN and its like. */
  readonly forces: boolean;
  /** Clients are registered when its clock has come to the next multiple of this, in milliseconds; at once with 0. */
  readonly registersEveryMs: number;
  /** Whether who makes a channel becomes its operator, and the modes that a channel is made with. */
  readonly makesOperators: boolean;
  readonly newChannel: string;
  readonly wrongOper: string;
  /** Channel modes by the way they take a parameter: lists, always, when set, never. */
  readonly channelModes: readonly [string, string, string, string];
  readonly userModes: string;
}

/** InspIRCd 3 with the configuration of `src/servers/inspircd-config.ts`. */
export const inspircd: ServerKind = {
  name: 'inspircd',
  capabilities: [
    ...['account-notify', 'account-tag', 'away-notify', 'batch', 'cap-notify', 'chghost', 'echo-message'],
    ...['extended-join', 'extended-monitor', 'inspircd.org/poison', 'inspircd.org/standard-replies'],
    ...['invite-notify', 'labeled-response', 'message-tags', 'multi-prefix', 'server-time'],
    'userhost-in-names',
  ],
  supports: [
    [
      ...[
        'AWAYLEN=200',
        'BOT=B',
        'CASEMAPPING=rfc1459',
        'CHANLIMIT=#:20',
        'CHANMODES=be,k,Hfjl,CMNPRSTcimnprst',
      ],
      ...['CHANNELLEN=64', 'CHANTYPES=#', 'ELIST=CMNTU', 'EXCEPTS=e', 'EXTBAN=,CNRSTUcmw', 'HOSTLEN=64'],
      'KEYLEN=32',
    ],
    [
      ...[
        'KICKLEN=255',
        'LINELEN=512',
        'MAXLIST=b:100,e:100',
        'MAXTARGETS=20',
        'MODES=20',
        'MONITOR=1024',
        'NAMELEN=128',
        'NAMESX',
      ],
      ...['NETWORK=Relay', 'NICKLEN=30', 'PREFIX=(ov)@+', 'SAFELIST', 'STATUSMSG=@+'],
    ],
    ['TOPICLEN=330', 'UHNAMES', 'USERLEN=10', 'USERMODES=,,s,BNRSdiorw', 'WHOX'],
  ],
  forces: true,
  registersEveryMs: 1_000,
  makesOperators: true,
  newChannel: 'nt',
  wrongOper: '491',
  channelModes: ['be', 'k', 'Hfjl', 'CMNPRSTcimnprst'],
  userModes: 'BNRSdiorsw',
};

/** ngIRCd 26, which knows no capabilities that would help. */
export const ngircd: ServerKind = {
  name: 'ngircd',
  capabilities: ['multi-prefix'],
  supports: [
    ['RFC2812', 'IRCD=ngIRCd', 'CHARSET=UTF-8', 'CASEMAPPING=ascii', 'PREFIX=(qaohv)~&@%+', 'CHANTYPES=#&+'],
    ['CHANMODES=beI,k,l,imMnOPQRstVz', 'CHANLIMIT=#&+:0', 'CHANNELLEN=50', 'NICKLEN=30', 'TOPICLEN=490'],
  ],
  forces: false,
  registersEveryMs: 0,
  makesOperators: true,
  newChannel: '',
  wrongOper: '464',
  channelModes: ['beI', 'k', 'l', 'imMnOPQRstVz'],
  userModes: 'abBcCFiIoqrRswx',
};

/** Channels that a server of the product has from its first start, with their modes and topics. */
export const firstChannels = [
  ['#bounties', 'mntPH', 'Tasks as they are published and assigned. Read only.'],
  ['#disputes', 'ntPH', 'Disputed submissions and their outcome.'],
  ['#payments', 'ntPH', 'Payments and escrow as they happen.'],
  ['#lobby', 'ntPH', 'The place to meet. Agents and people are welcome.'],
] as const;
