package org.revenantdb.chaos.subject;

import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Compares what a recovered store says with what it promised: durable ⊆ recovered ⊆ attempted,
 * groups whole or not at all, lazy ones as a prefix.
 *
 * <p>A check that calls none of the {@code verify} methods is no check, and the run is {@link
 * Verdict#HARNESS_BROKEN}.
 *
 * <p>Threads: one.
 */
public interface Recovered {

  /**
   * Asks for every key that was ever attempted.
   *
   * @param get gives a key's value, null if there is none
   */
  void verify(Function<String, @Nullable String> get);

  /**
   * Asks for every key that was ever attempted.
   *
   * @param get gives a key's value, null if there is none
   */
  void verifyBytes(Function<byte[], byte @Nullable []> get);

  /**
   * Compares the whole content, so that a key that nobody ever wrote is found, too.
   *
   * @param content every key with its value
   */
  void verifyAll(Map<String, String> content);

  /**
   * Compares the whole content, so that a key that nobody ever wrote is found, too.
   *
   * @param content every key with its value
   */
  void verifyAllBytes(Iterable<? extends Map.Entry<byte[], byte[]>> content);

  /**
   * Adds a demand of the subject's own: structure, page accounting.
   *
   * @param holds whether it is met
   * @param otherwise what is wrong if not
   */
  void demand(boolean holds, String otherwise);
}
