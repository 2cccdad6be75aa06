import { createHash } from 'node:crypto';
import { z } from 'zod';
import { defineStream, type FactOf } from '../core/index.js';

/** A moment, ISO 8601. */
const moment = z.string();
/** Id of a payment: see `paymentId`. */
const payment = z.string();
/** The name of the paid channel, with its `#`. */
const channel = z.string();

/** Who had a nick on the network; null in records that are older than this field, or if nobody could tell. */
const holder = z
  .object({
    /** With the nick service; null if they were not identified. */
    account: z.string().nullable(),
    /** `user@host`, as the network shows it. */
    host: z.string(),
  })
  .nullable()
  .default(null);

/** What a payment buys. */
const Terms = z.object({
  /** In units of the currency: `0.10`. */
  price: z.string(),
  currency: z.string(),
  duration_seconds: z.int().positive(),
});

/**
 * Paid channels: what was paid for, who may be in them until when, and which places are reserved for paying
 * nicks.
 */
export const payments = defineStream({
  name: 'PAYMENTS',
  description:
    'Paid channels: what was paid for, who may be in them until when, and which places are reserved.',
  subjects: ['payments.>'],
  facts: {
    /** A verified payment is about to be settled, for this channel and nick and never for others. */
    'payment.intended': z.object({
      payment,
      channel,
      nick: z.string(),
      payer: z.string(),
      /** CAIP-2. */
      network: z.string(),
      asset: z.string(),
      pay_to: z.string(),
      /** The amount in the smallest unit of the asset, as a whole number. */
      amount: z.string(),
      /** Of the authorization; null if the network does not use one. */
      nonce: z.string().nullable(),
      /** When the authorization expires, in seconds of Unix time; null if the network does not say. */
      valid_before: z.number().nullable().default(null),
      /** What it buys, as offered; null in records that are older than this field. */
      terms: Terms.nullable().default(null),
      /**
       * What the payer signed, if the fate of the payment can be asked for with it. Its holder can have the
       * money moved, to `pay_to` and before `valid_before`, and nothing else.
       */
      proof: z
        .object({
          version: z.union([z.literal(1), z.literal(2)]),
          payload: z.record(z.string(), z.unknown()),
        })
        .nullable()
        .default(null),
      /** The holder of the nick when the payment was presented. */
      holder,
    }),
    /** A place is reserved for somebody who is paying. The same payment again moves the end. */
    'slot.reserved': z.object({ payment, channel, nick: z.string(), until: moment }),
    /** The place is free again, and nothing was paid. */
    'slot.released': z.object({ payment, channel, reason: z.string() }),
    /** The payment is settled, and bought this session. */
    'payment.granted': z.object({
      payment,
      session_id: z.string(),
      channel,
      nick: z.string(),
      payer: z.string(),
      network: z.string(),
      asset: z.string(),
      /** As the price list says it: `0.10`. */
      amount: z.string(),
      currency: z.string(),
      /** Empty if the payment is known but its transaction is not. */
      tx_hash: z.string(),
      started_at: moment,
      expires_at: moment,
      duration_seconds: z.int().positive(),
      /** Whose place it is: somebody else who takes the nick is not brought in. */
      holder,
    }),
    /**
     * The payment is settled, but no session can begin. It is owed, and begins as soon as there is a place.
     */
    'payment.owed': z.object({
      payment,
      channel,
      nick: z.string(),
      /** Empty as in a grant. */
      tx_hash: z.string(),
      /** Code of what kept the session from beginning. */
      reason: z.string(),
    }),
    /** The payment could not be settled, and never will be; its place is free again. */
    'payment.refused': z.object({ payment, channel, nick: z.string(), reason: z.string(), at: moment }),
    /** The holder of the session has another nick now, and has the session under that nick. */
    'session.moved': z.object({ session_id: z.string(), channel, from: z.string(), nick: z.string() }),
    /**
     * Whoever has the nick of the session now has presented its payment, and is somebody else as far as the network
     * shows. The place is theirs.
     */
    'session.claimed': z.object({ session_id: z.string(), channel, nick: z.string(), holder }),
    /** Its time is over, and the nick was removed from the channel or is not there. */
    'session.ended': z.object({ session_id: z.string(), channel, nick: z.string() }),
  },
});

export type PaymentFact = FactOf<typeof payments>;
/** Who had a nick on the network. */
export type Holder = NonNullable<z.output<typeof holder>>;
/** What a grant says. */
export type Granted = Extract<PaymentFact, { type: 'payment.granted' }>['data'];
/** What a payment buys, in units of the currency and seconds. */
export type Terms = z.output<typeof Terms>;
/** What an intent says. */
export type Intended = Extract<PaymentFact, { type: 'payment.intended' }>['data'];

/**
 * The id of a payment, from what makes it unique: a nonce of one payer for one asset can move money only
 * once, whatever is signed for it.
 */
export function paymentId(...parts: readonly string[]): string {
  return createHash('sha256')
    .update(parts.map((part) => part.toLowerCase()).join(' '))
    .digest('base64url');
}

/** Subject of a payment. It has one fact for ever: what it was first presented for. */
export function paymentSubject(payment: string): string {
  return `payments.payment.${payment}`;
}

/** Subject of a channel: its places are given away there, one after the other. */
export function placesSubject(channel: string): string {
  return `payments.channel.${channel.slice(1)}`;
}
