package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.FutureTask;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.internals.AutoOffsetResetStrategy;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.streams.KafkaClientSupplier;
import org.apache.kafka.streams.StreamsConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the clients of an application are configured with. */
class RevenantClientSupplierTest {
  private static final TopicPartition CHANGELOG = new TopicPartition("app-store-changelog", 0);

  @TempDir Path home;

  private static final String WAIT = ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG;

  /** What each consumer was asked for with. */
  private final Map<String, Map<String, Object>> asked = new HashMap<>();

  private final MockConsumer<byte[], byte[]> restore =
      new MockConsumer<>(AutoOffsetResetStrategy.EARLIEST.name());

  private final RevenantClientSupplier clients =
      new RevenantClientSupplier(
          new KafkaClientSupplier() {
            @Override
            public Admin getAdmin(Map<String, Object> config) {
              throw new UnsupportedOperationException();
            }

            @Override
            public Producer<byte[], byte[]> getProducer(Map<String, Object> config) {
              return new MockProducer<>();
            }

            @Override
            public Consumer<byte[], byte[]> getConsumer(Map<String, Object> config) {
              asked.put("main", config);
              return null;
            }

            @Override
            public Consumer<byte[], byte[]> getRestoreConsumer(Map<String, Object> config) {
              asked.put("restore", config);
              return restore;
            }

            @Override
            public Consumer<byte[], byte[]> getGlobalConsumer(Map<String, Object> config) {
              asked.put("global", config);
              return null;
            }
          });

  private static StreamsConfig config(String... more) {
    Map<String, Object> properties = new HashMap<>();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "app");
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "localhost:1");
    for (int i = 0; i < more.length; i += 2) {
      properties.put(more[i], more[i + 1]);
    }
    return new StreamsConfig(properties);
  }

  @Test
  void a_restore_consumer_does_not_wait_half_a_second_at_the_end_of_a_changelog() {
    Map<String, Object> given = config().getRestoreConsumerConfigs("app-restore");
    Map<String, Object> before = new HashMap<>(given);
    clients.getRestoreConsumer(given);
    assertEquals(before, given);
    assertEquals(100, asked.get("restore").get(WAIT));
    before.put(WAIT, 100);
    assertEquals(before, asked.get("restore"));
  }

  @Test
  void the_wait_that_the_user_has_set_comes_first() {
    for (String prefix : List.of("restore.consumer.", "consumer.", "")) {
      clients.getRestoreConsumer(config(prefix + WAIT, "7").getRestoreConsumerConfigs("app"));
      assertEquals("7", asked.get("restore").get(WAIT).toString(), prefix);
    }
  }

  @Test
  void other_consumers_are_configured_as_the_user_did() {
    Map<String, Object> given = config().getGlobalConsumerConfigs("app-global");
    clients.getGlobalConsumer(given);
    clients.getConsumer(given);
    assertEquals(given, asked.get("global"));
    assertEquals(given, asked.get("main"));
  }

  @Test
  void the_restore_consumer_of_a_thread_knows_how_far_its_stores_are_behind() throws Exception {
    Consumer<byte[], byte[]> consumer =
        clients.getRestoreConsumer(config().getRestoreConsumerConfigs("app-restore"));
    assertEquals(OptionalLong.empty(), RestoreLag.of(CHANGELOG), "it was not polled yet");
    consumer.assign(List.of(CHANGELOG));
    restore.updateBeginningOffsets(Map.of(CHANGELOG, 0L));
    restore.updateEndOffsets(Map.of(CHANGELOG, 25_000L));
    restore.addRecord(new ConsumerRecord<>(CHANGELOG.topic(), 0, 0, new byte[1], new byte[1]));
    assertEquals(1, consumer.poll(Duration.ZERO).count());
    assertEquals(OptionalLong.of(24_999), RestoreLag.of(CHANGELOG));
    FutureTask<OptionalLong> elsewhere = new FutureTask<>(() -> RestoreLag.of(CHANGELOG));
    Thread.ofPlatform().start(elsewhere).join();
    assertEquals(OptionalLong.empty(), elsewhere.get());
    assertThrows(NullPointerException.class, () -> consumer.subscribe((List<String>) null));
    consumer.close();
  }

  @Test
  void a_standby_is_far_behind_if_its_lag_is_above_that_of_a_ready_one() {
    Consumer<byte[], byte[]> consumer =
        clients.getRestoreConsumer(config().getRestoreConsumerConfigs("app-restore"));
    consumer.assign(List.of(CHANGELOG));
    restore.updateBeginningOffsets(Map.of(CHANGELOG, 0L));
    restore.updateEndOffsets(Map.of(CHANGELOG, 10_000L));
    consumer.poll(Duration.ZERO);
    TaskContext context = new TaskContext(home, StreamsConfig.EXACTLY_ONCE_V2);
    RevenantStore store = new RevenantStore("store");
    store.init(context, store);
    assertFalse(store.isFarBehind(Set.of(CHANGELOG)));
    restore.updateEndOffsets(Map.of(CHANGELOG, 10_001L));
    consumer.poll(Duration.ZERO);
    assertTrue(store.isFarBehind(Set.of(CHANGELOG)));
    context.with(StreamsConfig.ACCEPTABLE_RECOVERY_LAG_CONFIG, "20000");
    assertFalse(store.isFarBehind(Set.of(CHANGELOG)));
    context.with(StreamsConfig.ACCEPTABLE_RECOVERY_LAG_CONFIG, 0L);
    assertTrue(store.isFarBehind(Set.of(CHANGELOG)));
    restore.updateEndOffsets(Map.of(CHANGELOG, 10_000L));
    consumer.poll(Duration.ZERO);
    assertFalse(store.isFarBehind(Set.of(CHANGELOG)), "a busy changelog never has a lag of 0");
    assertFalse(store.isPaused(Set.of(CHANGELOG)));
    consumer.pause(List.of(CHANGELOG));
    assertTrue(store.isPaused(Set.of(CHANGELOG)));
    consumer.resume(List.of(CHANGELOG));
    assertFalse(store.isPaused(Set.of(CHANGELOG)));
    store.close();
    consumer.close(); // else the next test of this thread would find its lag
  }

  /** Another instance in the process may be without them, and its log has a warning. */
  @Test
  void producers_that_commit_belong_to_an_instance() {
    Map<String, Object> ofOne = config().getProducerConfigs("one-StreamThread-1-producer");
    ofOne.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, "one-0"); // as Kafka does for exactly-once
    Producer<byte[], byte[]> producer = clients.getProducer(ofOne);
    assertTrue(CommittingProducer.isInUseBy("one"));
    assertFalse(CommittingProducer.isInUseBy("other"));
    assertFalse(CommittingProducer.isInUseBy("on"));
    producer.close();
    assertFalse(CommittingProducer.isInUseBy("one"));
  }

  /** Kafka commits the stores then, with offsets of its own. */
  @Test
  void a_producer_without_transactions_is_that_of_the_other_supplier() {
    Map<String, Object> config = config().getProducerConfigs("one-StreamThread-1-producer");
    assertInstanceOf(MockProducer.class, clients.getProducer(config));
    assertFalse(CommittingProducer.isInUseBy("one"));
  }

  @Test
  void a_misspelt_property_ends_the_making_of_the_instance() {
    Map<String, Object> admin = config("revenant.pool.byte", "1").getAdminConfigs("app");
    ConfigException refused = assertThrows(ConfigException.class, () -> clients.getAdmin(admin));
    assertTrue(refused.getMessage().contains("revenant.pool.byte "), refused.getMessage());
  }
}
