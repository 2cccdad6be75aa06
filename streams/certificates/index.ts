export {
  alertTiers,
  type CertificateState,
  certificateDecider,
  daysUntil,
  expiryStatus,
} from './certificate.js';
export {
  type CertificateCheck,
  type CertificateFact,
  certificateSubject,
  certificates,
} from './facts.js';
