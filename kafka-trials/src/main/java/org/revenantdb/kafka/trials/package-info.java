/**
 * Applications of Kafka Streams beside a real broker, with the stores of RevenantDB or those of
 * Kafka: killed, measured and shown. {@code ./revenant bench kafka-streams} and {@code ./revenant
 * demo kafka} run them.
 *
 * <p>Reading order: {@code Broker}, {@code Stores}, {@code Counting}, {@code Application}, {@code
 * Lives}, then the classes whose names end in {@code Main}.
 */
@NullMarked
package org.revenantdb.kafka.trials;

import org.jspecify.annotations.NullMarked;
