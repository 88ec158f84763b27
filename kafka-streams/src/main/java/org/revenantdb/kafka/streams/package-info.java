/**
 * State stores for Kafka Streams. The rows of a store and the changelog offset that they correspond
 * to are one transaction, so a crash never separates them and never wipes a store.
 *
 * <p>Reading order: {@link org.revenantdb.kafka.streams.RevenantStores}, {@link
 * org.revenantdb.kafka.streams.RevenantClientSupplier}, {@link
 * org.revenantdb.kafka.streams.RevenantConfig}, then the {@code README.md} beside this file and the
 * classes {@code RevenantStore}, {@code TaskTransaction}, {@code SharedDatabase}.
 */
@NullMarked
package org.revenantdb.kafka.streams;

import org.jspecify.annotations.NullMarked;
