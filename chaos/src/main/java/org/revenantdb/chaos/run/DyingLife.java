package org.revenantdb.chaos.run;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.StallWatch;
import org.revenantdb.chaos.fault.DeadFrom;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;

/**
 * A life whose process dies while it opens or works, or else when its work is done.
 *
 * <p>The dead store is abandoned. It is asked to close all the same, so that its threads end, which
 * changes nothing any more; one that waits for something that will never come is left behind.
 *
 * @param <S> the open store
 */
final class DyingLife<S> {

  /** How long the dead may take to notice. */
  private static final Duration GRACE = Duration.ofSeconds(2);

  private final CrashSubject<S> subject;
  private final DeadFrom death;
  private volatile @Nullable Throwable failure;

  DyingLife(CrashSubject<S> subject, DeadFrom death) {
    this.subject = subject;
    this.death = death;
  }

  /**
   * Lives until the process is dead.
   *
   * @param directory as this process sees it
   * @param promises which do not hear the dead
   * @throws Exception what the living threw
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
    // A watch of its own: threads of the dead may well die of what their files answer then.
    try (UncaughtExceptions threads = UncaughtExceptions.watch()) {
      S store = subject.open(directory);
      try {
        subject.work(store, promises);
      } catch (Exception | Error e) { // whatever a subject throws
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
    } catch (Exception | Error e) { // whatever a subject throws
      noteUnlessDead(e);
    }
  }

  private void noteUnlessDead(Throwable thrown) {
    if (!death.isDead()) {
      failure = thrown;
    }
  }
}
