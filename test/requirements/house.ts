/** How the code is laid out. */
export const house = {
  'HOUSE-01': 'Imports point from the outer rooms to the inner ones only.',
  'HOUSE-02': 'Engines know no slices, and the slices of a room do not know each other.',
  'HOUSE-03': 'No circle of imports.',
  'HOUSE-04': 'Only the configuration reads environment variables.',
  'HOUSE-05': 'No circle of imports between folders of a room.',
  'HOUSE-06': 'Faces know operations and no other face, and operations know no face.',
  'HOUSE-07': 'Benchmarks import nothing of the tests.',
  'HOUSE-08': 'No test depends on how fast the machine is.',
  'ERR-01': 'Every code of an error stands in one catalogue, with its status and meaning, and is in use.',
  'ERR-02': 'docs/reference/errors.md lists them as the catalogue has them.',
  'ERR-03': 'Whoever asks for what is not there is told where to look.',
  'REF-01': 'The pages of docs/reference that are made from the code are as the code is now.',
} as const;
