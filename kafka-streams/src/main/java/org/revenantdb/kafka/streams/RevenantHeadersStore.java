package org.revenantdb.kafka.streams;

import org.apache.kafka.streams.state.HeadersBytesStore;

/**
 * A store whose values begin with the headers and the timestamp of a record. Kafka Streams puts
 * them there and takes them off.
 */
final class RevenantHeadersStore extends RevenantStore implements HeadersBytesStore {
  RevenantHeadersStore(String name) {
    super(name);
  }

  @Override
  String format() {
    return "headers";
  }
}
