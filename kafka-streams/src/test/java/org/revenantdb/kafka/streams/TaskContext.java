package org.revenantdb.kafka.streams;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.StreamsMetrics;
import org.apache.kafka.streams.processor.CommitCallback;
import org.apache.kafka.streams.processor.StateRestoreCallback;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.apache.kafka.streams.processor.internals.RecordBatchingStateRestoreCallback;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;

/** What a store sees of its task: task 0_0 of an application, if no other one is named. */
final class TaskContext implements StateStoreContext {
  private final Path application;
  private Path directory;
  private final Map<String, Object> properties = new HashMap<>();

  /** Of the store that was the last to be opened. */
  RecordBatchingStateRestoreCallback restore;

  private Optional<RecordMetadata> input = Optional.empty();

  TaskContext(Path application, String guarantee) {
    this.application = application;
    directory = application.resolve("0_0");
    properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guarantee);
    properties.put(RevenantConfig.POOL_BYTES, 4L << 20);
  }

  /** The database of the application in small, and the directory of the task, for crash tests. */
  static SharedDatabase smallDatabase(Path application, Durability durability) throws IOException {
    DatabaseOptions options =
        DatabaseOptions.defaults()
            .withPoolBytes(2 << 20)
            .withLogSegmentBytes(1 << 20)
            .withMaxRecoveryLog(4 << 20)
            .withDurability(durability)
            .withCountersFile(false);
    Files.createDirectories(application.resolve("0_0"));
    return SharedDatabase.acquire(
        application, () -> Database.open(application.resolve(SharedDatabase.DIRECTORY), options));
  }

  TaskContext ofTask(String task) {
    directory = application.resolve(task);
    return this;
  }

  TaskContext with(String property, Object value) {
    properties.put(property, value);
    return this;
  }

  /** The record that is processed from now on. */
  void at(String topic, long offset) {
    input =
        Optional.of(
            new RecordMetadata() {
              @Override
              public String topic() {
                return topic;
              }

              @Override
              public int partition() {
                return 0;
              }

              @Override
              public long offset() {
                return offset;
              }
            });
  }

  @Override
  public String applicationId() {
    return "app";
  }

  @Override
  public TaskId taskId() {
    return TaskId.parse(directory.getFileName().toString());
  }

  @Override
  public Optional<RecordMetadata> recordMetadata() {
    return input;
  }

  @Override
  public Serde<?> keySerde() {
    return Serdes.Bytes();
  }

  @Override
  public Serde<?> valueSerde() {
    return Serdes.ByteArray();
  }

  @Override
  public File stateDir() {
    return directory.toFile();
  }

  Path directory() {
    return directory;
  }

  @Override
  public StreamsMetrics metrics() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void register(StateStore store, StateRestoreCallback callback) {
    restore = (RecordBatchingStateRestoreCallback) callback;
  }

  @Override
  public void register(StateStore store, StateRestoreCallback callback, CommitCallback commit) {
    register(store, callback);
  }

  @Override
  public Map<String, Object> appConfigs() {
    return properties;
  }

  @Override
  public Map<String, Object> appConfigsWithPrefix(String prefix) {
    throw new UnsupportedOperationException();
  }
}
