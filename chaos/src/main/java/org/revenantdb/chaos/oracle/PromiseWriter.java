package org.revenantdb.chaos.oracle;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.oracle.PromiseEvent.AllDurable;
import org.revenantdb.chaos.oracle.PromiseEvent.By;
import org.revenantdb.chaos.oracle.PromiseEvent.OfGroup;
import org.revenantdb.chaos.oracle.PromiseEvent.OfWrite;
import org.revenantdb.chaos.oracle.PromiseEvent.Put;
import org.revenantdb.chaos.oracle.PromiseEvent.Single;
import org.revenantdb.chaos.oracle.PromiseEvent.Step;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.trace.TraceClock;

/**
 * Turns the reports of a subject into events, each with its place.
 *
 * <p>Every call takes its place and passes the event on before it returns. So an announcement has
 * its place before the store is called, and a promise after the store has answered.
 */
final class PromiseWriter implements Promises {

  private final TraceClock clock;
  private final long seed;
  private final AtomicLong groups;
  private final Consumer<PromiseEvent> sink;

  PromiseWriter(TraceClock clock, long seed, AtomicLong groups, Consumer<PromiseEvent> sink) {
    this.clock = clock;
    this.seed = seed;
    this.groups = groups;
    this.sink = sink;
  }

  @Override
  public long seed() {
    return seed;
  }

  @Override
  public RandomGenerator random() {
    return RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
  }

  @Override
  public void attempt(String key, @Nullable String value) {
    say(Single.ATTEMPT, Bytes.of(key), Bytes.ofNullable(value));
  }

  @Override
  public void attempt(byte[] key, byte @Nullable [] value) {
    say(Single.ATTEMPT, Bytes.of(key), Bytes.ofNullable(value));
  }

  @Override
  public void durable(String key, @Nullable String value) {
    say(Single.DURABLE, Bytes.of(key), Bytes.ofNullable(value));
  }

  @Override
  public void durable(byte[] key, byte @Nullable [] value) {
    say(Single.DURABLE, Bytes.of(key), Bytes.ofNullable(value));
  }

  @Override
  public void lazy(String key, @Nullable String value) {
    say(Single.LAZY, Bytes.of(key), Bytes.ofNullable(value));
  }

  @Override
  public void lazy(byte[] key, byte @Nullable [] value) {
    say(Single.LAZY, Bytes.of(key), Bytes.ofNullable(value));
  }

  @Override
  public void durableRead(String key, @Nullable String value) {
    say(Single.DURABLE_READ, Bytes.of(key), Bytes.ofNullable(value));
  }

  @Override
  public void durableRead(byte[] key, byte @Nullable [] value) {
    say(Single.DURABLE_READ, Bytes.of(key), Bytes.ofNullable(value));
  }

  @Override
  public void allDurable() {
    sink.accept(new AllDurable(by()));
  }

  @Override
  public Group begin() {
    Writer group = new Writer(groups.incrementAndGet());
    group.say(Step.BEGIN);
    return group;
  }

  private void say(Single what, Bytes key, @Nullable Bytes value) {
    sink.accept(new OfWrite(by(), what, key, value));
  }

  private By by() {
    Thread thread = Thread.currentThread();
    return new By(clock.next(), thread.threadId(), thread.getName());
  }

  private final class Writer implements Group {

    private final long number;

    Writer(long number) {
      this.number = number;
    }

    @Override
    public Group put(String key, @Nullable String value) {
      return put(Bytes.of(key), Bytes.ofNullable(value));
    }

    @Override
    public Group put(byte[] key, byte @Nullable [] value) {
      return put(Bytes.of(key), Bytes.ofNullable(value));
    }

    private Group put(Bytes key, @Nullable Bytes value) {
      sink.accept(new Put(by(), number, key, value));
      return this;
    }

    @Override
    public Group committing() {
      say(Step.COMMITTING);
      return this;
    }

    @Override
    public void durable() {
      say(Step.DURABLE);
    }

    @Override
    public void lazy() {
      say(Step.LAZY);
    }

    @Override
    public void rolledBack() {
      say(Step.ROLLED_BACK);
    }

    private void say(Step step) {
      sink.accept(new OfGroup(by(), number, step));
    }
  }
}
