package org.revenantdb.collections;

import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.feed.Arrivals;
import org.revenantdb.engine.DatabaseClosedException;

/** A listener that follows a {@link ChangeFeed} on a virtual thread. Thread-safe. */
public final class FeedSubscription implements AutoCloseable {
  private static final long BATCH = 64;

  private final ChangeFeed feed;
  private final Arrivals arrivals;
  private final ChangeFeed.Listener listener;
  private final Thread thread;
  private volatile long position;
  private volatile boolean isClosed;
  private volatile @Nullable Throwable failure;

  FeedSubscription(ChangeFeed feed, Arrivals arrivals, long after, ChangeFeed.Listener listener) {
    this.feed = feed;
    this.arrivals = arrivals;
    this.listener = listener;
    this.position = after;
    this.thread = Thread.ofVirtual().name("revenant-feed-" + feed.name()).unstarted(this::follow);
    thread.start();
  }

  private void follow() {
    try {
      while (true) {
        long seen = arrivals.count(); // before the look at isClosed, so no close is missed
        if (isEnded()) {
          return;
        }
        long before = position;
        position = feed.read(before, BATCH, this::pass);
        if (position == before) {
          arrivals.await(seen);
        }
      }
    } catch (Closed end) {
      return;
    } catch (Throwable thrown) {
      if (thrown instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      // The listener may have thrown the same kinds for reasons of its own.
      boolean isEnd =
          thrown instanceof DatabaseClosedException || thrown instanceof InterruptedException;
      if (isEnd && isEnded()) {
        return;
      }
      failure = thrown;
      thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
    }
  }

  private boolean isEnded() {
    return isClosed || feed.isOver();
  }

  private void pass(FeedCommit commit) throws Exception {
    if (isClosed) {
      throw new Closed();
    }
    listener.committed(commit);
    position = commit.position();
  }

  /** Leaves a batch of commits. */
  private static final class Closed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Closed() {
      super(null, null, /* enableSuppression= */ false, /* writableStackTrace= */ false);
    }
  }

  /**
   * The position of the last commit that the listener has dealt with.
   *
   * @return the position
   */
  public long position() {
    return position;
  }

  /**
   * What has ended the subscription.
   *
   * @return what the listener or the reader has thrown; null if it was not ended, or by a close
   */
  public @Nullable Throwable failure() {
    return failure;
  }

  /** Whether it reads. */
  boolean isAlive() {
    return thread.isAlive();
  }

  /**
   * Ends it: no further commit is passed, and the listener has returned. Called by the listener, it
   * does not wait.
   */
  @Override
  public void close() {
    isClosed = true;
    arrivals.arrived();
    if (Thread.currentThread().equals(thread)) {
      return;
    }
    boolean wasInterrupted = false;
    while (true) {
      try {
        thread.join();
        break;
      } catch (InterruptedException later) {
        wasInterrupted = true;
      }
    }
    if (wasInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public String toString() {
    return "FeedSubscription[" + feed.name() + ", behind " + position + "]";
  }
}
