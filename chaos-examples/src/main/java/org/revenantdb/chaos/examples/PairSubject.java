package org.revenantdb.chaos.examples;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;

/**
 * Work that suits every store: few keys, which are replaced again and again, one or two of them in
 * each durable commit. Values are of 6 to 2,030 characters, so that commits cross the pages and
 * blocks of a store's files.
 *
 * @param <S> the open store
 */
abstract class PairSubject<S> implements CrashSubject<S> {
  private static final int COMMITS = 30;
  private static final int KEYS = 7;
  private static final int LONGEST = 2_000;

  /** The number of keys that the store changes in one commit, 1 if it has no transactions. */
  int keysOfACommit() {
    return 2;
  }

  /** Makes changes durable, all or none. */
  abstract void commit(S store, SortedMap<String, String> changes) throws Exception;

  /** Returns the value of a key, null if there is none. */
  abstract @Nullable String get(S store, String key) throws Exception;

  @Override
  public void work(S store, Promises promises) throws Exception {
    RandomGenerator random = promises.random();
    for (int i = 0; i < COMMITS; i++) {
      TreeMap<String, String> changes = new TreeMap<>();
      Promises.Group group = promises.begin();
      for (int k = 0; k < keysOfACommit(); k++) {
        String value =
            promises.seed() + "." + i + "." + k + "." + "x".repeat(random.nextInt(LONGEST));
        changes.put("key" + (i + k * (1 + random.nextInt(KEYS - 1))) % KEYS, value);
      }
      changes.forEach(group::put);
      group.committing();
      commit(store, changes);
      group.durable();
    }
  }

  @Override
  public void check(S store, Recovered recovered) {
    recovered.verify(key -> {
      try {
        return get(store, key);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new UnreadableException(e);
      }
    });
  }

  /** A text as bytes, for stores that keep bytes. */
  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** The text of bytes; null for none. */
  static @Nullable String text(byte @Nullable [] bytes) {
    return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
  }

  /** A store could not be read. */
  static final class UnreadableException extends RuntimeException {
    private static final long serialVersionUID = 1;

    UnreadableException(Exception cause) {
      super(cause.toString(), cause);
    }
  }
}
