package org.revenantdb.suite.crash;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.engine.BulkLoadOptions;
import org.revenantdb.engine.Database;

/**
 * Bulk loads of unsorted rows that exceed their memory (docs/protocols.md §61): finished,
 * cancelled, and left open with all of their files. Keys come twice. The next opening finds none of
 * the files.
 */
public final class UnsortedLoadSubject extends RevenantSubject {

  private static final String LOADED = "unsorted";
  private static final int ROUNDS = 3;

  /** With the lengths below they need twice the memory of a load. */
  private static final int ROWS = 500;

  /** More than a sixteenth of the memory: such a value goes to the file of large values at once. */
  private static final int LARGE = 70_000;

  private static final long SMALLEST_MEMORY = 1 << 20;

  /** Creates the subject. */
  public UnsortedLoadSubject() {}

  @Override
  void opened(Path database) {
    try (Stream<Path> files = Files.list(database)) {
      List<Path> left = files.filter(file -> file.toString().endsWith(".spill")).toList();
      if (!left.isEmpty()) {
        throw new IllegalStateException("left over from a former life and not deleted: " + left);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void work(Database db, Promises promises) {
    RandomGenerator random = promises.random();
    Worker worker = new Worker(db, promises, promises.seed(), 0);
    int from = 0;
    for (int round = 0; round < ROUNDS; round++) {
      List<byte[]> keys = keys(random, from);
      if (round == 0 || random.nextInt(3) > 0) {
        worker.loadUnsorted(LOADED, keys, UnsortedLoadSubject::length, options(new long[1]));
        from += random.nextInt(ROWS); // the next load meets some of these rows
      } else {
        worker.giveUpUnsorted(
            LOADED, keys, UnsortedLoadSubject::length, options(new long[1]), /* close= */ true);
      }
      worker.commit(writes -> writes.delete(LOADED, Tables.key(random.nextInt(ROWS))));
    }
    long[] written = new long[1];
    worker.giveUpUnsorted(
        LOADED,
        keys(random, from),
        UnsortedLoadSubject::length,
        options(written),
        /* close= */ false);
    if (written[0] < SMALLEST_MEMORY) {
      throw new IllegalStateException("no run was written");
    }
    worker.commit(writes -> writes.put(Tables.HOT, Tables.key(1), 40));
  }

  /** Options with a listener that counts the bytes in temporary files. */
  private static BulkLoadOptions options(long[] written) {
    return BulkLoadOptions.defaults()
        .withSortMemory(SMALLEST_MEMORY)
        .withListener(progress -> {
          written[0] = progress.sortBytes();
          return true;
        });
  }

  private static List<byte[]> keys(RandomGenerator random, int from) {
    List<byte[]> keys = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      keys.add(Tables.key(from + i));
      if (random.nextInt(8) == 0) {
        keys.add(Tables.key(from + random.nextInt(ROWS)));
      }
    }
    Collections.shuffle(keys, new Random(random.nextLong()));
    return keys;
  }

  private static int length(byte[] key) {
    int hash = key[key.length - 1] * 31 + key[key.length - 2] * 7 + key[key.length - 3];
    return hash % 211 == 0 ? LARGE : 200 + Math.floorMod(hash * 131, 8_000);
  }
}
