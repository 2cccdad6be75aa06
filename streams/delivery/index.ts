export {
  type DeliveryCommand,
  type DeliveryLimits,
  type DeliveryState,
  type EventRef,
  confirmLine,
  deliveryDecider,
  openChannels,
  pendingDelivery,
} from './delivery.js';
export {
  type ConfirmedLine,
  type DeliveryFact,
  confirmationsSubject,
  delivery,
  deliverySubject,
} from './facts.js';
