package org.revenantdb.kafka.streams;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.engine.Durability;

/**
 * Power cuts while two tasks of an instance write and commit to one database, each by itself, or
 * both with their producer. Each task has a store of each kind. The rows of each store are exactly
 * those that its offset says, no segment is there that is over, all stores of a task are at the
 * same commit, and a durable commit stays.
 */
@Tag("slow")
@CrashTest(
    profile = {PlatformProfile.EXT4_ORDERED, PlatformProfile.NAMES_LOST},
    states = 100,
    seed = 20_261_127)
class StoreCrashTest implements CrashSubject<StoreCrashTest.Instance> {
  private static final int COMMITS = 8;
  private static final int RECORDS = 3;

  Durability durability() {
    return Durability.DURABLE;
  }

  @Override
  public Instance open(Path directory) throws Exception {
    return new Instance(directory, durability());
  }

  @Override
  public void work(Instance instance, Promises promises) {
    for (int commit = 0; commit < COMMITS; commit++) {
      for (int record = 1; record <= RECORDS; record++) {
        for (ModelTask task : instance.tasks) { // in turn
          task.write(task.offset() + record);
        }
      }
      if (commit % 2 == 0) {
        for (ModelTask task : instance.tasks) {
          long next = task.offset() + RECORDS;
          Promises.Group group = task.committing(promises, next);
          task.commit(next);
          committed(group);
        }
      } else {
        instance.commitWithProducer(promises).forEach(this::committed);
      }
      if (durability() == Durability.LAZY && commit % 3 == 2) {
        instance.shared.database().sync();
        promises.allDurable();
      }
    }
    for (ModelTask task : instance.tasks) {
      task.write(task.offset() + 1); // not committed
    }
  }

  private void committed(Promises.Group group) {
    if (durability() == Durability.DURABLE) {
      group.durable();
    } else {
      group.lazy();
    }
  }

  @Override
  public void check(Instance instance, Recovered recovered) {
    Map<String, String> offsets = new TreeMap<>();
    instance.tasks.forEach(task -> task.addPromised(offsets));
    recovered.verify(offsets::get);
    instance.tasks.forEach(task -> task.check(recovered));
  }

  /** Two tasks of a thread, whose database has the files of the framework. */
  static final class Instance implements AutoCloseable {
    final SharedDatabase shared;
    final List<ModelTask> tasks;
    private final int between;
    private int steps;

    Instance(Path home, Durability durability) throws Exception {
      shared = TaskContext.smallDatabase(home, durability);
      between = durability == Durability.DURABLE ? 3 : 7;
      tasks =
          List.of(
              new ModelTask(home, "0_0", this::forceNowAndThen),
              new ModelTask(home, "1_0", this::forceNowAndThen));
    }

    /**
     * Within a commit. Else all changes of a commit would be in one write of the log, and hardly
     * any power cut would divide them.
     */
    private void forceNowAndThen() {
      if (++steps % between == 0) {
        shared.database().sync();
      }
    }

    /** The producer of the thread has committed: both tasks follow, in any order. */
    List<Promises.Group> commitWithProducer(Promises promises) {
      List<Long> next = tasks.stream().map(task -> task.offset() + RECORDS).toList();
      List<Promises.Group> groups =
          List.of(
              tasks.getFirst().committing(promises, next.getFirst()),
              tasks.getLast().committing(promises, next.getLast()));
      TaskTransaction.producerHasCommitted((partition, isInput) -> {
        Long sent = tasks.getFirst().sent(partition, next.getFirst());
        return sent != null ? sent : tasks.getLast().sent(partition, next.getLast());
      });
      return groups;
    }

    @Override
    public void close() {
      tasks.forEach(ModelTask::close);
      shared.release();
    }
  }
}
