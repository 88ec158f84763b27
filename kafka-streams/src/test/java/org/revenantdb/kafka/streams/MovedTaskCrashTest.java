package org.revenantdb.kafka.streams;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.engine.Durability;

/**
 * Power cuts while a task comes, writes, moves away and comes back, beside another one that stays:
 * Kafka deletes the directory of the task, and the instance drops its tables while it runs
 * (README.md of the package, §64). Each store of the task has all of its rows or none, and the next
 * open ends the dropping.
 */
@Tag("slow")
@CrashTest(
    profile = {PlatformProfile.EXT4_ORDERED, PlatformProfile.NAMES_LOST},
    states = 80,
    seed = 20_261_129)
class MovedTaskCrashTest implements CrashSubject<MovedTaskCrashTest.Instance> {
  private static final String MOVED = "0_1";
  private static final int MOVES = 2;

  @Override
  public Instance open(Path directory) throws Exception {
    return new Instance(directory);
  }

  @Override
  public void work(Instance instance, Promises promises) throws Exception {
    for (int move = 0; move < MOVES; move++) {
      instance.staysAndCommits(promises);
      List<String> stores = instance.comesAndLeaves(promises);
      instance.comesAndLeaves(promises); // back to its directory
      for (String store : stores) {
        promises.attempt(ModelTask.key(MOVED, store), null);
        instance.deleteDirectory(store);
      }
      Files.delete(SharedDatabase.directory(instance.home.resolve(MOVED)));
      Files.delete(instance.home.resolve(MOVED));
      instance.look();
      instance.staysAndCommits(promises); // the drops are lazy
      instance.demandDropped();
      stores.forEach(store -> promises.durable(ModelTask.key(MOVED, store), null));
    }
    instance.staysAndCommits(promises);
    instance.comesAndLeaves(promises);
  }

  @Override
  public void check(Instance instance, Recovered recovered) throws Exception {
    List<String> tables = instance.shared.database().tableNames();
    boolean isThere = false;
    for (String store : instance.stays.storeNames()) {
      boolean isMarked = Files.exists(instance.marker(store));
      String table = MOVED + "/" + store;
      recovered.demand(
          isMarked || tables.stream().noneMatch(name -> (name + "#").startsWith(table + "#")),
          "without the marker of " + table + " there are still " + tables);
      isThere |= isMarked;
    }
    Map<String, String> offsets = new TreeMap<>();
    instance.stays.addPromised(offsets);
    instance.stays.check(recovered);
    if (isThere) {
      try (ModelTask moved = new ModelTask(instance.home, MOVED)) {
        moved.addPromised(offsets);
        moved.checkRows(recovered);
      }
    }
    recovered.verify(offsets::get);
  }

  /** An instance whose database has the files of the framework, with a clock of the test. */
  static final class Instance implements AutoCloseable {
    final Path home;
    final SharedDatabase shared;
    final ModelTask stays;
    final AtomicLong now = new AtomicLong();

    Instance(Path home) throws IOException {
      this.home = home;
      shared = TaskContext.smallDatabase(home, Durability.DURABLE);
      now.set(System.nanoTime()); // not before the look that the open has made
      shared.clock = now::get;
      stays = new ModelTask(home, "0_0");
    }

    void staysAndCommits(Promises promises) {
      long next = stays.offset() + 1;
      stays.write(next);
      Promises.Group group = stays.committing(promises, next);
      stays.commit(next);
      group.durable();
    }

    /** Returns the names of its stores. */
    List<String> comesAndLeaves(Promises promises) {
      try (ModelTask moved = new ModelTask(home, MOVED)) {
        // What it is new at has not been anywhere before: the other task has committed since.
        long next = moved.offset() < 0 ? stays.offset() * ModelTask.LIFE : moved.offset() + 1;
        for (long end = next + 3; next < end; next++) {
          moved.write(next);
        }
        Promises.Group group = moved.committing(promises, next - 1);
        moved.commit(next - 1);
        group.durable();
        return moved.storeNames();
      }
    }

    /**
     * Drops the tables, while another thread forces the log as commits of other tasks do. Else all
     * of it would be in one write of the log, and hardly any power cut would divide that.
     */
    void look() throws InterruptedException {
      AtomicBoolean ends = new AtomicBoolean();
      Thread forces =
          Thread.ofPlatform()
              .start(() -> {
                while (!ends.get()) {
                  shared.database().sync();
                }
              });
      now.addAndGet(SharedDatabase.BETWEEN_LOOKS);
      shared.lookNowAndThen();
      ends.set(true);
      forces.join();
    }

    void demandDropped() {
      List<String> tables = shared.database().tableNames();
      if (tables.stream().anyMatch(table -> table.startsWith(MOVED))) {
        throw new AssertionError("the look has left " + tables);
      }
    }

    Path marker(String store) {
      return SharedDatabase.marker(home.resolve(MOVED), store);
    }

    /** As Kafka deletes it: its files, then it. */
    void deleteDirectory(String store) throws IOException {
      Files.delete(marker(store));
      Files.delete(SharedDatabase.directory(home.resolve(MOVED), store));
    }

    @Override
    public void close() {
      stays.close();
      shared.release();
    }
  }
}
