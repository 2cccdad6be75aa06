/** Channels that are paid for by x402, and who is in them until when. */
export const payments = {
  'PAY-01':
    'The published clients of both versions of x402 pay for a channel and get a grant; the money moves.',
  'PAY-02': 'Paid channels and where payments go are configuration; what is wrong in it is named at boot.',
  'PAY-03':
    'Twelve EVM networks and Solana: Base first, Solana last, and only what the facilitator supports and somebody is paid on.',
  'PAY-04':
    'A 402 says what is to be paid, for any nick and also for a full channel, in the version that is asked for.',
  'PAY-05': 'Proofs are taken from both headers and in every form that clients are known to send.',
  'PAY-06':
    'A proof that cannot be read answers 400, one that pays for nothing of ours 402; nothing is charged.',
  'PAY-07':
    'A payment that is invalid or cannot be settled answers 402 with the reason, and its place is free again.',
  'PAY-08':
    'Never more sessions than slots, and no payment is taken for a full channel (503), however many come at once.',
  'PAY-09': 'One live session a nick and channel: 409 before its end, and one payment at a time.',
  'PAY-10':
    'A payment buys one session, ever; presented again while that lasts, it is answered with the same grant.',
  'PAY-11':
    'A settlement of which nobody knows answers 502; the same payment presented again gets its grant and is not charged twice.',
  'PAY-12':
    'A facilitator that is away answers 502, payments that are not configured 503; nothing is charged.',
  'PAY-13':
    'Paid channels with their active slots and the live sessions of a nick are open to read; unknown channels are 404.',
  'PAY-14':
    'A grant brings the nick into the channel with a voice; within 30 s of its end the nick is out, also across restarts.',
  'PAY-15':
    'A nick that is not on IRC answers 400 before anything is charged; without the channel bot it is 503.',
  'PAY-16': 'Paid channels are on the network, closed and private, without anybody having made them.',
  'PAY-17':
    'A payment gateway elsewhere is asked there, with its headers, and named when it cannot be reached.',
  'PAY-31':
    'A channel that is sold is not made, changed or closed by callers; who misbehaves in it can still be put out.',
  'PAY-32':
    'A payment seats one and nobody else: who was there before, or is not the owner of the nick, is put out; a place goes with whoever takes another nick in the channel, and not to whoever takes the nick outside it.',
  'PAY-33':
    'Payments that are verified and cannot be settled are taken a few times an hour from one wallet or address, and then answer 429: they stay on record.',
  'PAY-34':
    'No place is sold for a nick of a bot or a service, before anything is paid; a session of one ends and the bot stays, and what the network refuses is not tried for ever.',
  'PAY-30': 'Health says in words why nothing can be paid, and shows no secret of an address.',
  'PAY-18':
    'A payment whose settlement nobody knows comes to its end without a retry: what is on the chain is granted once, what can no more be settled is refused and its place free; nothing is settled for it.',
  'PAY-19':
    'A settled payment without a place is owed: operators see it, nobody who has not paid goes before it, and its session begins when there is a place.',
  'PAY-20':
    'A payment on Solana goes to the facilitator as it was signed, with the fee payer that it was signed for, and buys one session.',
  'PAY-35':
    'What is tried again and again for a payer, as while a mute keeps the voice back, is on record once.',
  'PAY-36': 'Who is banned from a paid channel by moderation buys no place there, and is charged nothing.',
} as const;
