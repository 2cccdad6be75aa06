export {
  confirmLine,
  type DeliveryCommand,
  type DeliveryLimits,
  type DeliveryState,
  deliveryDecider,
  type EventRef,
  isPast,
  openChannels,
  pendingDelivery,
} from './delivery.js';
export {
  type ConfirmedLine,
  confirmationsSubject,
  type DeliveryFact,
  delivery,
  deliverySubject,
} from './facts.js';
