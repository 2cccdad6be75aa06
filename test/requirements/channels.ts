/** The managed channels and the service that keeps them. */
export const channels = {
  'CHAN-01': 'A channel name is created once; while it is active or archived, creating it again answers 409.',
  'CHAN-02': 'After a deletion the name is free again, and the channel answers 404.',
  'CHAN-03': 'Names, types, modes, topics and nicks are checked; a 400 names the path of every bad field.',
  'CHAN-04':
    'A creation answers 201 when the bot is in the channel, modes and topic are set, and the invited are in.',
  'CHAN-05': 'Invited nicks that are not there are named, and brought in when they appear.',
  'CHAN-06': 'Channels are permanent and keep history; modes are reported as they were asked for.',
  'CHAN-07': 'A type has its limit, and a creation beyond it answers 429.',
  'CHAN-08':
    'Creations, deletions and member operations have hourly limits; beyond them a 429 says when there is room again.',
  'CHAN-09': 'Only what was done counts: a creation that was refused gives its place back.',
  'CHAN-10': 'Automation is outside the hourly limits, and an event acts on a channel once.',
  'CHAN-11':
    'A patch sets topic, modes, voices and operators on the network; each change is an audit record of its own.',
  'CHAN-12':
    'An archived channel is +m with our bots voiced, its topic says so, and a repetition changes nothing.',
  'CHAN-13': 'An immediate deletion parts everybody, and the channel is gone from the network.',
  'CHAN-14':
    'Member operations tell per nick what became of it; who is as wanted already is a success, who is not on the network fails.',
  'CHAN-15': 'Without the bot as operator commands answer 503, and member operations fail for every nick.',
  'CHAN-16':
    'Channels are listed by type, shown, counted and audited, newest record first; what was written is read.',
  'CHAN-17':
    'The read model is the same in whatever batches it is folded; audit records are counted in the order of the log.',
  'CHAN-18': 'A channel is deleted when its time after archiving is over, also after an interrupted run.',
  'CHAN-19': 'A geographic channel without audit records for long is archived.',
  'CHAN-20':
    'A task channel whose task ended long ago is archived, unless the task was assigned again since.',
  'CHAN-21':
    'After a restart of the network the bots are in every channel again, with settings and topics as recorded.',
  'CHAN-22': 'A channel that was deleted while the network was away is removed when it is back.',
  'CHAN-23': 'A bot that is put out of a channel is brought back, not at once and not often.',
  'CHAN-24': 'Commands work in every process: the one that holds the bot carries them out.',
  'CHAN-25': 'Public writes need an API key, whose name is recorded; reads are open.',
  'CHAN-26': 'Health tells whether the bot is there and operator, by the word of the network.',
  'CHAN-28': 'A creation that the network refuses answers 409 and leaves nothing behind.',
  'CHAN-27': 'When the bot is shut out or its nick is taken it comes back with growing pauses.',
  'CHAN-29':
    'A private channel, its key and what was done in it are shown to those who may write, and to nobody else.',
  'CHAN-30':
    'A channel that is always there cannot be made, changed or closed, whatever an older record says of it.',
  'CHAN-60':
    'An assigned task gets its room, private and with its topic, for publisher, worker and the marketplace bot.',
  'CHAN-61': 'An approved, completed or cancelled task has its room archived, with the reason.',
  'CHAN-62': 'A published task with a location opens the channel of its city.',
  'CHAN-63': 'Other events, and events that name no channel, want nothing of a channel.',
  'CHAN-64':
    'The line of an assignment reaches the new room, and the line of an end is shown before the room falls silent.',
  'CHAN-65': 'A late line never opens a deleted room again; without a channel left it goes to the feed.',
  'CHAN-66': 'Automation that fails is tried again, and neither queue nor delivery waits for it.',
  'CHAN-67':
    'A thousand tasks assigned and completed at once: every room archived, each line shown once, no dead letter.',
  'CHAN-68':
    'A task that is assigned again has its new worker brought into the room it has: once, and not into an archived one.',
  'CHAN-80':
    'Member operations never take a bot of this service out of a channel, nor its voice or rights there.',
  'CHAN-81': 'Keys and nicks that every object has are refused or taken as what they are, and never a fault.',
  'CHAN-82':
    'A category in which nothing was done for GEO_INACTIVITY_DAYS is archived if nobody but our bots is there.',
  'CHAN-83': 'Archived channels do not count against the limit of their type.',
  'CHAN-84': 'The room of a relay is archived at its end.',
  'CHAN-85':
    'The room of an assigned task is closed from the assignment on, whatever opened it before: whoever the task does not name is put out, cannot come back, is not shown it, and nothing that was said while they were in it is replayed.',
  'CHAN-86':
    'A nick that is registered or linked is brought into a closed room only while it is identified; until then it is told how to be, and expected.',
  'CHAN-87':
    'With as many rooms as there may be, a line waits for the place of its room within its time to live, is counted, and no bot makes the room in another way.',
  'CHAN-89':
    'Who makes a channel that the service does not manage is its operator, invites others and sets modes.',
  'CHAN-90':
    'What a stranger made of a channel before the service takes it over ends then: rights, lists, key, limit, topic, history and invitations. A closed one holds only those it names, and they are shown its lines.',
  'CHAN-91':
    'Operators of a managed channel are our bots and whoever the service made one. Rights that others give are taken back with what was done with them, and bans of moderation stay, also after a restart of the server.',
  'CHAN-92':
    'A room that the network lost and a stranger made again is made again by the service, and who is invited is brought back.',
  'CHAN-93':
    'The log is asked once whether a room is deleted. Later deletions are seen without asking, and what nothing is heard of for a minute is asked again.',
  'CHAN-94':
    'What a process records of a channel after another one has taken the channel bot over is carried out by that one.',
  'CHAN-95':
    'Masks that servers gave each other while no bot saw it are looked for when the channel bot comes, and taken back; what moderation has recorded stays.',
  'CHAN-96':
    'A creation that the network did not carry out is taken back, and no later channel of its name; that is no 404.',
  'CHAN-88':
    'Two processes that both hold the channel bot for a while make no more channels of a type than there may be, and do no more in an hour than one may.',
  'CHAN-97':
    'The reason for which somebody is removed, or a channel is deleted, is shown as one short line, whatever it holds.',
  'CHAN-98':
    'A patch says what of it is no mode string and why, and which topic was set where that is another one.',
  'CHAN-99':
    'What one process asks of another is answered also while the log server may ask a connection that is gone, and is carried out once.',
} as const;
