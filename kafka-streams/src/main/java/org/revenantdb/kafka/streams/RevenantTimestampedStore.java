package org.revenantdb.kafka.streams;

import org.apache.kafka.streams.state.TimestampedBytesStore;

/** A store whose values begin with a timestamp. Kafka Streams puts it there and takes it off. */
final class RevenantTimestampedStore extends RevenantStore implements TimestampedBytesStore {
  RevenantTimestampedStore(String name) {
    super(name);
  }

  @Override
  String format() {
    return "timestamped";
  }
}
