package org.revenantdb.kafka.trials;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Scanner;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.chaos.crash.ForkedJvm;

/**
 * The lives of an application, which is killed between them while it counts. After each kill the
 * next life is compared with a model.
 *
 * <p>Threads: one.
 */
final class Lives implements AutoCloseable {
  private static final String RUNNING = "RUNNING ";
  private static final double NANOSECONDS = 1e9;
  private static final Duration LATEST_KILL = Duration.ofSeconds(1);

  private static final Duration BETWEEN_LOOKS = Duration.ofMillis(200);

  private final Stores stores;
  private final String servers;
  private final Path directory;
  private final String name;
  private final Input input;
  private final Admin admin;
  private final SplittableRandom random;
  private @Nullable ForkedJvm life;

  /**
   * How a life began.
   *
   * @param seconds from the making of the instance to RUNNING
   * @param restored records that its stores restored
   * @param restoring seconds from the beginning of the restoration to RUNNING; 0 without one
   */
  record Start(double seconds, long restored, double restoring) {}

  /**
   * What kills did.
   *
   * @param kills how many
   * @param wrong behind how many of them rows were not what was sent
   * @param seconds until RUNNING, the median
   * @param restored the most records that a start behind a kill restored
   */
  record Killed(int kills, int wrong, double seconds, long restored) {}

  Lives(Stores stores, String servers, Path directory, String name, int keys, long seed)
      throws InterruptedException {
    this.stores = stores;
    this.servers = servers;
    this.directory = directory;
    this.name = name;
    this.random = new SplittableRandom(seed);
    this.admin = Broker.admin(servers);
    Broker.createTopics(servers, Counting.PARTITIONS, name);
    this.input = new Input(servers, name, keys, seed);
  }

  /** A record for each key. */
  void fill() {
    input.sendEachKey();
  }

  /** Begins a life and waits until it is RUNNING. */
  Start begin() {
    ForkedJvm began =
        Broker.jvm(Application.class)
            .heap("512m")
            .argument(stores.label())
            .argument(servers)
            .argument(directory)
            .argument(name)
            .argument(name)
            .fork();
    life = began;
    try (Scanner words = new Scanner(answer(began, RUNNING).substring(RUNNING.length()))) {
      double seconds = words.nextLong() / NANOSECONDS;
      long restored = words.nextLong();
      return new Start(seconds, restored, words.nextLong() / NANOSECONDS);
    }
  }

  private static String answer(ForkedJvm life, String beginning) {
    for (String line = life.readLine(); line != null; line = life.readLine()) {
      if (line.startsWith(beginning)) {
        return line;
      }
    }
    life.awaitEnd();
    throw new IllegalStateException("the application has ended: " + life.stderr());
  }

  private ForkedJvm life() {
    ForkedJvm now = life;
    if (now == null) {
      throw new IllegalStateException("no life has begun");
    }
    return now;
  }

  /** Waits until all input is processed and committed. */
  void awaitAllProcessed() throws InterruptedException {
    while (!isAllProcessed()) {
      Thread.sleep(BETWEEN_LOOKS);
      if (!life().isAlive()) {
        throw new IllegalStateException("the application has ended: " + life().stderr());
      }
    }
  }

  private boolean isAllProcessed() throws InterruptedException {
    try {
      Map<TopicPartition, OffsetAndMetadata> committed =
          admin.listConsumerGroupOffsets(name).partitionsToOffsetAndMetadata().get();
      long processed = 0;
      for (int partition = 0; partition < Counting.PARTITIONS; partition++) {
        TopicPartition of = new TopicPartition(name, partition);
        OffsetAndMetadata at = committed.get(of);
        processed += at == null ? 0 : at.offset();
      }
      return processed == input.sent();
    } catch (ExecutionException failed) {
      throw new IllegalStateException("the broker at " + servers + " does not answer", failed);
    }
  }

  /**
   * Whether the rows of the life are what was sent, with some records that this life counts itself.
   * The thread of the application commits its stores behind the broker, and before it goes on. So
   * when the broker has committed one more record of each partition, the stores have all that came
   * before.
   */
  boolean isRight() throws InterruptedException {
    input.sendToEachPartition();
    awaitAllProcessed(); // else one transaction could have both
    input.sendUncounted();
    awaitAllProcessed();
    tell("check");
    String expected = "CHECKSUM " + input.expected();
    String found = answer(life(), "CHECKSUM");
    boolean isRight = found.equals(expected);
    if (!isRight) {
      System.err.println(stores.label() + ": expected " + expected + ", found " + found);
    }
    return isRight;
  }

  /**
   * Kills the application again and again while it counts, and compares each life that follows.
   *
   * @param records sent before each kill
   * @param each receives the start behind each kill, and whether its rows were right
   */
  Killed kill(int kills, int records, BiConsumer<Start, Boolean> each) throws InterruptedException {
    double[] seconds = new double[kills];
    long restored = 0;
    int wrong = 0;
    for (int kill = 0; kill < kills; kill++) {
      input.send(records);
      life().killAfter(Duration.ofNanos(random.nextLong(LATEST_KILL.toNanos())));
      life().close();
      Start start = begin();
      seconds[kill] = start.seconds();
      restored = Math.max(restored, start.restored());
      boolean isRight = isRight();
      wrong += isRight ? 0 : 1;
      each.accept(start, isRight);
    }
    Arrays.sort(seconds);
    return new Killed(kills, wrong, seconds[kills / 2], restored);
  }

  /** Ends the life in order. */
  void end() {
    tell("close");
    answer(life(), "CLOSED");
    life().demandOrderlyEnd();
    life().close();
  }

  /** Deletes all state of the ended application. */
  void loseState() {
    FileTrees.delete(directory);
  }

  private void tell(String what) {
    try {
      life().tell(what);
    } catch (IOException e) {
      throw new UncheckedIOException("the application has ended: " + life().stderr(), e);
    }
  }

  @Override
  public void close() {
    if (life != null) {
      life.close();
    }
    input.close();
    admin.close();
  }
}
