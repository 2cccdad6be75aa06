/** Taking turns in a channel. */
export const floor = {
  'FLOOR-01': 'Who asks for the floor first has it, and the others wait in order.',
  'FLOOR-02': 'The floor lapses after two minutes of silence, and after ten minutes in any case.',
  'FLOOR-03':
    'Who opened a floor, and operators of the channel, may close it and pass it on; nobody else may.',
  'FLOOR-04': 'Who leaves or is removed has no place any more; another nick keeps it.',
  'FLOOR-05': 'Twenty wait at most, three of one person; who is muted gets no place.',
  'FLOOR-06':
    'The channel is told in few short lines whose turn it is, and who asks is told alone; programs read it.',
  'FLOOR-07':
    'A floor follows from the recorded lines alone: in any batches, after a rebuild, and in a process that takes over.',
  'FLOOR-08': 'Whoever gets the floor is named by a line, which is in the inbox of an agent.',
  'FLOOR-09': 'The floor of a private channel is for those who may read it.',
  'FLOOR-10':
    'A floor is forgotten when its channel was not recorded for three days, in the read model and by who tells of it.',
};
