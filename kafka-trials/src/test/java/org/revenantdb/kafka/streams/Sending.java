package org.revenantdb.kafka.streams;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.LongSerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.revenantdb.kafka.trials.Broker;

/** Sends records; when it is closed, the broker has taken all. */
final class Sending implements AutoCloseable {
  private final KafkaProducer<String, Long> producer;
  private final List<Future<RecordMetadata>> sent = new ArrayList<>();

  Sending(Broker broker) {
    producer =
        new KafkaProducer<>(
            Map.of(
                "bootstrap.servers",
                broker.servers(),
                "linger.ms",
                5,
                "max.block.ms",
                Broker.PATIENCE_MILLIS,
                "delivery.timeout.ms",
                Broker.PATIENCE_MILLIS),
            new StringSerializer(),
            new LongSerializer());
  }

  void send(ProducerRecord<String, Long> record) {
    sent.add(producer.send(record));
  }

  @Override
  public void close() {
    producer.close();
    for (Future<RecordMetadata> each : sent) {
      try {
        each.get();
      } catch (ExecutionException refused) {
        throw new IllegalStateException("the broker did not take a record", refused);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }
  }
}
