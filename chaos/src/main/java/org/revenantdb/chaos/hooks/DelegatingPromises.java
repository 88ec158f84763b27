package org.revenantdb.chaos.hooks;

import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.subject.Promises;

/** Passes all reports on, and reports each answer. */
abstract class DelegatingPromises implements Promises {

  private final Promises to;

  DelegatingPromises(Promises to) {
    this.to = to;
  }

  /** An answer of the store was reported. */
  abstract void answered();

  @Override
  public final long seed() {
    return to.seed();
  }

  @Override
  public final RandomGenerator random() {
    return to.random();
  }

  @Override
  public final void attempt(String key, @Nullable String value) {
    to.attempt(key, value);
  }

  @Override
  public final void attempt(byte[] key, byte @Nullable [] value) {
    to.attempt(key, value);
  }

  @Override
  public final void durable(String key, @Nullable String value) {
    to.durable(key, value);
    answered();
  }

  @Override
  public final void durable(byte[] key, byte @Nullable [] value) {
    to.durable(key, value);
    answered();
  }

  @Override
  public final void lazy(String key, @Nullable String value) {
    to.lazy(key, value);
    answered();
  }

  @Override
  public final void lazy(byte[] key, byte @Nullable [] value) {
    to.lazy(key, value);
    answered();
  }

  @Override
  public final void allDurable() {
    to.allDurable();
    answered();
  }

  @Override
  public final void durableRead(String key, @Nullable String value) {
    to.durableRead(key, value);
  }

  @Override
  public final void durableRead(byte[] key, byte @Nullable [] value) {
    to.durableRead(key, value);
  }

  @Override
  public final Group begin() {
    return new DelegatingGroup(to.begin());
  }

  private final class DelegatingGroup implements Group {

    private final Group group;

    DelegatingGroup(Group group) {
      this.group = group;
    }

    @Override
    public Group put(String key, @Nullable String value) {
      group.put(key, value);
      return this;
    }

    @Override
    public Group put(byte[] key, byte @Nullable [] value) {
      group.put(key, value);
      return this;
    }

    @Override
    public Group committing() {
      group.committing();
      return this;
    }

    @Override
    public void durable() {
      group.durable();
      answered();
    }

    @Override
    public void lazy() {
      group.lazy();
      answered();
    }

    @Override
    public void rolledBack() {
      group.rolledBack();
    }
  }
}
