package org.revenantdb.chaos.subject;

import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Compares what a recovered store returns with what it promised: durable ⊆ recovered ⊆ attempted,
 * each group whole or not at all, lazy writes as a prefix.
 *
 * <p>A check must call one of the {@code verify} methods. Otherwise the verdict of the run is
 * {@link Verdict#HARNESS_BROKEN}.
 *
 * <p>Threads: one.
 */
public interface Recovered {

  /**
   * Reads every key that was ever attempted.
   *
   * @param get returns a key's value, null if there is none
   */
  void verify(Function<String, @Nullable String> get);

  /**
   * Reads every key that was ever attempted.
   *
   * @param get returns a key's value, null if there is none
   */
  void verifyBytes(Function<byte[], byte @Nullable []> get);

  /**
   * Compares the whole content, which also finds a key that was never written.
   *
   * @param content every key with its value
   */
  void verifyAll(Map<String, String> content);

  /**
   * Compares the whole content, which also finds a key that was never written.
   *
   * @param content every key with its value
   */
  void verifyAllBytes(Iterable<? extends Map.Entry<byte[], byte[]>> content);

  /**
   * Adds a condition of the subject's own, for instance on structure or page accounting.
   *
   * @param holds whether the condition is met
   * @param otherwise what is wrong if not
   */
  void demand(boolean holds, String otherwise);
}
