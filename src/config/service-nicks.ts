/** Nicks of services that networks have. */
export const serviceNicks = [
  'NickServ',
  'ChanServ',
  'MemoServ',
  'OperServ',
  'BotServ',
  'HostServ',
  'SaslServ',
  'Global',
];
