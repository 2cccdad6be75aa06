/** Questions to several models in parallel, under `/multibrain/*`. */
export const deliberation = {
  'BRAIN-01': 'A query is taken with 201 and its id; what is wrong with one is told with 400 and its place.',
  'BRAIN-02':
    'Changing anything needs an API key; its name is the owner of the query and the actor of its facts.',
  'BRAIN-03': 'An unknown query is a 404, and so is a private one to everybody but its owner.',
  'BRAIN-04':
    'The result is a 202 until the query has ended, and then the consensus with agreement and dissent.',
  'BRAIN-05': 'Lists show public queries and the reader’s own, newest first, at most 100.',
  'BRAIN-06': 'Consensus asks each model once and at the same time.',
  'BRAIN-07': 'In a debate of three rounds each model sees what the others said.',
  'BRAIN-08': 'At a round table the models speak in turn, two rounds, and hear all who spoke before.',
  'BRAIN-09': 'A model that fails does not fail the query while two others answered.',
  'BRAIN-10':
    'The synthesis is read whatever its model makes of the form, and another model steps in for one that fails.',
  'BRAIN-11': 'Injected context reaches every call that follows, and is refused when none will.',
  'BRAIN-12':
    'No call is made that could exceed what the query may cost; what is left over is enough for the synthesis.',
  'BRAIN-13':
    'Costs are told by model and by round, and summed up over all queries; what nobody stated is marked as estimated.',
  'BRAIN-14':
    'An answer that is recorded is never paid for again, whatever dies; one that was lost is asked for once more, and its cost counted.',
  'BRAIN-15':
    'What a provider refuses is tried three times; what may have been answered is not repeated but for a lost connection, once.',
  'BRAIN-16': 'A model that does not answer in time is given up.',
  'BRAIN-17':
    'The stream tells what happens as it happens, in any process, and goes on behind the last event its reader saw.',
  'BRAIN-18': 'Any provider that speaks the chat-completions protocol will do, with and without streaming.',
  'BRAIN-19': 'The file of models is checked when the service starts; without one the service says so.',
  'BRAIN-20': 'The read model is the same however its facts are batched, on both engines.',
  'BRAIN-21': 'While the log is away an answer waits to be recorded.',
  'BRAIN-22': 'Whoever was told by the stream that a query is done finds its result, at whichever process.',
  'BRAIN-23': 'A key that a provider quotes in an error is in no reason of ours.',
} as const;
