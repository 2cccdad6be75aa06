/** A route of the marketplace that the gateway passes on; `:name` in a path is a parameter. */
export interface MarketplaceRoute {
  method: 'GET' | 'POST' | 'DELETE';
  /** Under `/em` here and under `/api/v1` there. */
  path: string;
  /** A list that answers empty, with a hint, where no marketplace is configured. */
  list?: true;
}

/** Every route of the marketplace that is passed on; those that are no GET change something there. */
export const marketplaceRoutes = {
  listTasks: { method: 'GET', path: '/tasks', list: true },
  availableTasks: { method: 'GET', path: '/tasks/available', list: true },
  searchTasks: { method: 'GET', path: '/tasks/search', list: true },
  getTask: { method: 'GET', path: '/tasks/:id' },
  createTask: { method: 'POST', path: '/tasks' },
  applyTask: { method: 'POST', path: '/tasks/:id/apply' },
  submitEvidence: { method: 'POST', path: '/tasks/:id/submit' },
  approveTask: { method: 'POST', path: '/tasks/:id/approve' },
  rejectTask: { method: 'POST', path: '/tasks/:id/reject' },
  cancelTask: { method: 'POST', path: '/tasks/:id/cancel' },
  mutualCancelTask: { method: 'POST', path: '/tasks/:id/mutual-cancel' },
  confirmCancelTask: { method: 'POST', path: '/tasks/:id/confirm-cancel' },
  bidTask: { method: 'POST', path: '/tasks/:id/bid' },
  openDispute: { method: 'POST', path: '/disputes' },
  getDispute: { method: 'GET', path: '/disputes/:disputeId' },
  resolveDispute: { method: 'POST', path: '/disputes/:disputeId/resolve' },
  declareAvailability: { method: 'POST', path: '/workers/available' },
  findAvailableWorkers: { method: 'GET', path: '/workers/available' },
  cancelAvailability: { method: 'DELETE', path: '/workers/available' },
  sendTip: { method: 'POST', path: '/tips' },
  getEscrow: { method: 'GET', path: '/escrow/:id' },
  getEarnings: { method: 'GET', path: '/earnings/:nick' },
  createRelayChain: { method: 'POST', path: '/relay-chains' },
  getRelayChain: { method: 'GET', path: '/relay-chains/:relayId' },
  assignRelayLeg: { method: 'POST', path: '/relay-chains/:relayId/legs/:legNum/assign' },
} as const satisfies Record<string, MarketplaceRoute>;
