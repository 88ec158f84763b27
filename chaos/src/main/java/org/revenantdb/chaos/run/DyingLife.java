package org.revenantdb.chaos.run;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.StallWatch;
import org.revenantdb.chaos.fault.DeadFrom;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;

/**
 * A life whose process dies while it opens or works, or at the latest when its work is done.
 *
 * <p>The dead store is abandoned. It is still asked to close, so that its threads end; that changes
 * nothing on the disk. A store that waits forever is left behind.
 *
 * @param <S> the open store
 */
final class DyingLife<S> {

  /** How long the threads of a dead process may take to end. */
  private static final Duration GRACE = Duration.ofSeconds(2);

  private final CrashSubject<S> subject;
  private final DeadFrom death;
  private volatile @Nullable Throwable failure;

  DyingLife(CrashSubject<S> subject, DeadFrom death) {
    this.subject = subject;
    this.death = death;
  }

  /**
   * Runs until the process is dead.
   *
   * @param directory as this process sees it
   * @param promises ignores reports after the death
   * @throws Exception if the store failed before the death
   */
  void live(Path directory, Promises promises) throws Exception {
    Thread thread =
        Thread.ofPlatform().daemon().name("dying-life").start(() -> guarded(directory, promises));
    StallWatch watch = new StallWatch(GRACE);
    StallWatch.End end =
        time -> {
          if (!death.isDead()) {
            watch.alive();
          }
          return thread.join(time);
        };
    if (!watch.await(end)) {
      thread.interrupt();
      return;
    }
    switch (failure) {
      case null -> {}
      case Exception e -> throw e;
      case Error e -> throw e;
      case Throwable e -> throw new IllegalStateException(e);
    }
  }

  private void guarded(Path directory, Promises promises) {
    // A watch of its own, because threads of the dead store may die of the errors of their files.
    try (UncaughtExceptions threads = UncaughtExceptions.watch()) {
      S store = subject.open(directory);
      try {
        subject.work(store, promises);
      } catch (Exception | Error e) { // any exception of a subject
        noteUnlessDead(e);
      }
      Throwable ofThread = threads.first();
      if (ofThread != null) {
        noteUnlessDead(ofThread);
      }
      death.die();
      subject.close(store);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      noteUnlessDead(e);
    } catch (Exception | Error e) { // any exception of a subject
      noteUnlessDead(e);
    }
  }

  private void noteUnlessDead(Throwable thrown) {
    if (!death.isDead()) {
      failure = thrown;
    }
  }
}
