package org.revenantdb.chaos.run;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.chaos.subject.Verdict;

/**
 * A log that several threads write and one forces for all of them: a write after the beginning of a
 * force is not covered by it, however late it returns.
 *
 * <p>Of twelve seeds (November 2026, two cores) ten have a life with slow forces, and each of them
 * finds the flaw; without slow forces three of the twelve did. The scheduler decides whether a
 * thread writes while another forces. On a busy machine it may not happen in a whole recording, so
 * the test tries seeds until one finds the flaw.
 */
class GroupCommitTest {

  private static final int SLOT = 512;
  private static final int WRITERS = 3;
  private static final int COMMITS = 8;

  /** A life of the log: places are assigned in order, one thread forces, the others wait for it. */
  private static final class Log implements AutoCloseable {

    private final FileChannel file;
    private final boolean honest;
    private final Thread committer;
    private volatile int written;
    private int durable;
    private boolean closed;

    Log(Path file, boolean honest) throws IOException {
      this.honest = honest;
      this.file = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      try (FileChannel names = FileChannel.open(file.getParent(), StandardOpenOption.READ)) {
        names.force(true);
      }
      committer = Thread.ofPlatform().name("committer").start(this::forceForAll);
    }

    /** Returns when the record is durable according to the committer. */
    void append(int slot, String value) throws IOException, InterruptedException {
      int mine;
      synchronized (this) {
        // A whole slot: a longer value over a shorter one at the end of the file would
        // need its size.
        byte[] whole = Arrays.copyOf(value.getBytes(UTF_8), SLOT);
        file.write(ByteBuffer.wrap(whole), (long) slot * SLOT);
        mine = ++written;
        notifyAll();
      }
      synchronized (this) {
        while (durable < mine) {
          wait();
        }
      }
    }

    private void forceForAll() {
      try {
        int before = awaitWork(0);
        while (before > 0) {
          file.force(false);
          int covered = honest ? before : written; // the flaw: read after the force, not before
          synchronized (this) {
            durable = covered;
            notifyAll();
          }
          before = awaitWork(covered);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    /** How much is written, once that is more; 0 if nothing more comes. */
    private synchronized int awaitWork(int known) throws InterruptedException {
      while (written == known && !closed) {
        wait();
      }
      return written == known ? 0 : written;
    }

    @Override
    public void close() throws IOException {
      synchronized (this) {
        closed = true;
        notifyAll();
      }
      try {
        committer.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      file.close();
    }
  }

  /** Several threads, each with its own keys. */
  private abstract static class Store implements CrashSubject<Path> {

    private final boolean honest;

    Store(boolean honest) {
      this.honest = honest;
    }

    @Override
    public Path open(Path dir) {
      return dir.resolve("log");
    }

    @Override
    public void work(Path file, Promises promises) throws Exception {
      write(file, promises, COMMITS);
    }

    @Override
    public void resume(Path file, Promises promises) throws Exception {
      write(file, promises, 1);
    }

    private void write(Path file, Promises promises, int commits)
        throws IOException, InterruptedException, ExecutionException {
      try (Log log = new Log(file, honest)) {
        List<FutureTask<Void>> writers = new ArrayList<>();
        for (int i = 0; i < WRITERS; i++) {
          int writer = i;
          FutureTask<Void> task =
              new FutureTask<>(() -> {
                for (int n = 0; n < commits; n++) {
                  int slot = n * WRITERS + writer;
                  String value = promises.seed() + "." + slot + ";";
                  promises.attempt("k" + slot, value);
                  log.append(slot, value);
                  promises.durable("k" + slot, value);
                }
                return null;
              });
          Thread.ofPlatform().name("writer " + i).start(task);
          writers.add(task);
        }
        for (FutureTask<Void> writer : writers) {
          writer.get();
        }
      }
    }

    @Override
    public void check(Path file, Recovered recovered) {
      recovered.verify(key -> {
        try {
          byte[] all = Files.exists(file) ? Files.readAllBytes(file) : new byte[0];
          int from = Integer.parseInt(key.substring(1)) * SLOT;
          int end = from;
          while (end < all.length && all[end] != 0 && all[end] != ';') {
            end++;
          }
          boolean whole = end < all.length && all[end] == ';';
          return whole ? new String(all, from, end + 1 - from, UTF_8) : null;
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      });
    }
  }

  /** Reports as durable what was written when the force began. */
  static final class Honest extends Store {
    Honest() {
      super(/* honest= */ true);
    }
  }

  /** Reports as durable what was written when the force returned. */
  static final class TooGenerous extends Store {
    TooGenerous() {
      super(/* honest= */ false);
    }
  }

  private static Outcome run(Supplier<CrashSubject<Path>> subjects, long seed) throws IOException {
    Recording recording =
        new LifeRecorder<>(subjects, seed, /* lives= */ 3, Duration.ofMinutes(1)).record();
    assertTrue(recording.usable(), recording.reason());
    PowerCutOptions options =
        PowerCutOptions.of(PlatformProfile.STRICT_POSIX, seed).withStates(1500).withWorkers(1);
    return new PowerCutRun<>(subjects, recording, options, new SeenImages()).run();
  }

  @Test
  void write_acknowledgedByAForceThatBeganBeforeIt_isFound() throws IOException {
    // Whether a write and a force overlap depends on the machine, so until one seed finds it.
    for (long seed = 1; ; seed++) {
      Outcome outcome = run(TooGenerous::new, seed);
      if (outcome.verdict() == Verdict.LOST) {
        return;
      }
      assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
    }
  }

  @Test
  void write_acknowledgedByAForceThatBeganAfterIt_survives() throws IOException {
    for (long seed : new long[] {4, 9}) {
      Outcome outcome = run(Honest::new, seed);
      assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
    }
  }
}
