package org.revenantdb.engine;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.access.Misuse;
import org.revenantdb.engine.catalog.SequenceBlock;
import org.revenantdb.engine.catalog.SequenceMark;
import org.revenantdb.engine.page.SequenceRow;
import org.revenantdb.engine.session.Engine;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.latch.StackReserve;
import org.revenantdb.recovery.log.LogStoppedException;

/**
 * Returns numbers, each of them only once. {@link Database#sequence} opens a sequence; it belongs
 * to that database.
 *
 * <p>A sequence needs no transaction, and no transaction gives a value back. So a rollback leaves a
 * gap. A crash or a close leaves a gap of up to twice {@link SequenceOptions#cacheSize} values.
 * <b>A sequence promises no values without gaps</b>, and no order of values between threads. It
 * promises that no two calls return the same value:
 *
 * <ul>
 *   <li>{@link Durability#DURABLE}: no later call returns this value, whatever crashes. An earlier
 *       call can have returned it only if that call was lazy and a crash has undone it.
 *   <li>{@link Durability#LAZY}: no other call returns this value while the database is open, nor
 *       after a close. After a crash, or a stop because of a failed force, a later call may return
 *       it again if the value was not durable. A lazy value becomes durable as lazy commits do:
 *       within {@link DatabaseOptions#maxLazyDelay}, with {@link Database#sync}, or with the next
 *       durable commit.
 * </ul>
 *
 * <p>A commit that survives a crash makes all earlier values durable. So if a lazy value is
 * returned again, no surviving row was written with it, and no durable transaction has read one.
 * LAZY is therefore enough for the key of a row, even in a durable transaction. LAZY is not enough
 * for a value that leaves the database without such a commit, for example on an invoice or in
 * another database.
 *
 * <p>Thread-safe. One log record reserves a block of {@link SequenceOptions#cacheSize} values. The
 * thread that uses the middle value of a block reserves the next block, so threads usually do not
 * queue. Without a cache they queue at each value, and those that wait for the disk share a force.
 *
 * <p>Failures: {@link LimitException.Reason#SEQUENCE_EXHAUSTED} at the end of the range. {@link
 * DatabaseStoppedException} if the log has failed; the value of that call is lost.
 */
public final class Sequence {
  /*
   * Rule R23; the protocol, and what a crash leaves between its steps, is in docs/protocols.md §21.
   *
   * Block       reserved -> following (under the lock) -> current (volatile) -> used up -> forgotten
   * Fast path   current; getAndAdd on it; a result below its size is the number. For DURABLE wait until the block's
   *             LSN is durable
   * Slow path   the lock. If another thread has replaced the block meanwhile, try that one. Otherwise use the
   *             following block, or a new one. The first number of a new block is taken before other threads see it:
   *             without a cache it is the only one
   * Order       the lock, then credit, then the leaf's latch. No lock or latch is held while a thread waits for
   *             durability.
   * Ordering    a block is written before it is stored in current (volatile).
   * Races       a stale current: its getAndAdd returns no number, and under the lock the thread sees the current
   *             block. The fast path is not inside the gate. It touches no page, and a number is unique even if the
   *             database is being closed.
   */
  private final Engine engine;
  private final String name;
  private final SequenceOptions options;
  private final SequenceMark mark;
  private final PatientLock reserving = new PatientLock();

  /** Under the lock. */
  private @Nullable SequenceBlock following;

  /** LSN of the last record of a mark, 0 if it was written before this open. Under the lock. */
  private long markLsn;

  private volatile SequenceBlock current = new SequenceBlock(0, 0);

  /** A number and its block. */
  private record Drawn(SequenceBlock block, long index) {}

  Sequence(Engine engine, String name, SequenceOptions options, SequenceMark mark) {
    this.engine = engine;
    this.name = name;
    this.options = options;
    this.mark = mark;
  }

  /**
   * The sequence's name.
   *
   * @return as given when the sequence was created
   */
  public String name() {
    return name;
  }

  /**
   * The options with which the sequence was created.
   *
   * @return the options
   */
  public SequenceOptions options() {
    return options;
  }

  /**
   * The next value, with {@link DatabaseOptions#durability}.
   *
   * @return a value that no other call returns; {@link Sequence} has the exact promise
   */
  public long next() {
    try {
      return next(engine.options().durability());
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * The next value.
   *
   * @param durability whether the call waits until the value is durable
   * @return a value that no other call returns; {@link Sequence} has the exact promise
   * @throws LimitException with {@link LimitException.Reason#SEQUENCE_EXHAUSTED} if there are no
   *     values left
   * @throws ReadOnlyDatabaseException if the database was opened read-only
   */
  public long next(Durability durability) {
    Objects.requireNonNull(durability, "durability must not be null");
    try {
      demandUsable();
      SequenceBlock block = current;
      long index = block.take();
      if (index >= block.size()) {
        Drawn drawn = engine.inside(() -> draw(durability));
        block = drawn.block();
        index = drawn.index();
      }
      if (block.isHalf(index)) {
        reserveAhead(block, durability);
      }
      if (durability == Durability.DURABLE && engine.storage().log().durableLsn() < block.lsn()) {
        engine.awaitDurable(block.lsn());
      }
      return SequenceRow.value(
          options.start(), options.increment(), options.order().code(), block.number(index));
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /**
   * The number of values that were used, gaps included. A copy of the sequence that is {@linkplain
   * #advanceTo advanced} to this position returns none of them.
   *
   * <p>The position may or may not include values that other threads take at the same time. After a
   * crash it can be lower, by values of lazy calls, or higher, by the gap.
   *
   * @return the position, from 0
   * @throws DatabaseClosedException if the database is closed
   * @throws StorageException if the page of the sequence cannot be read
   */
  public long position() {
    try {
      StackReserve.ensure();
      return engine.inside(this::positionInside);
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  private long positionInside() {
    reserving.lock();
    try {
      SequenceBlock block = current;
      long taken = block.taken();
      if (taken < block.size()) {
        return block.number(taken);
      }
      SequenceBlock next = following;
      return next != null ? next.number(0) : mark.read();
    } finally {
      reserving.unlock();
    }
  }

  /**
   * Skips all values before a position. After this call has returned, no call returns a skipped
   * value, whatever crashes. A sequence never goes back: a position that it has passed changes
   * nothing.
   *
   * <p>Use it when a sequence continues another one, for example after an import. A sequence from 1
   * by 1 that is advanced to 4,711 returns 4,712 next.
   *
   * @param position number of values to count as used, at least 0
   * @throws IllegalArgumentException if the position is negative, or beyond the last value
   * @throws ReadOnlyDatabaseException if the database was opened read-only
   */
  public void advanceTo(long position) {
    try {
      demandUsable();
      long values = SequenceRow.count(options.start(), options.increment(), options.order().code());
      if (position < 0 || position > values) {
        throw new Misuse.OfArgument(
            OptionCheck.text("position", "from 0 to " + values, position, ""));
      }
      engine.awaitDurable(engine.inside(() -> advanceInside(position)));
    } catch (RuntimeException failure) {
      throw engine.told(failure);
    }
  }

  /** Returns the LSN of the mark on which the result depends. */
  private long advanceInside(long position) {
    reserving.lock();
    try {
      SequenceBlock next = following;
      SequenceBlock found = current.end().from(position);
      if (found == null) {
        found = next == null ? null : next.from(position);
        if (found == null) {
          found = mark.advance(position, markLsn);
          markLsn = found.lsn();
        }
        following = null; // not earlier: after a failure the following block is used
      }
      current = found;
      return found.lsn();
    } finally {
      reserving.unlock();
    }
  }

  private void demandUsable() {
    StackReserve.ensure();
    if (engine.options().readOnly()) {
      throw new ReadOnlyDatabaseException(
          "sequence "
              + name
              + " does not change: the database was opened read-only; open it for"
              + " writing");
    }
    engine.gate().demandOpen();
    Throwable failure = engine.storage().log().failure();
    if (failure != null) {
      throw Engine.stopped(new LogStoppedException(failure));
    }
  }

  /** The current block was used up. */
  private Drawn draw(Durability durability) {
    reserving.lock();
    try {
      SequenceBlock block = current;
      long index = block.take();
      if (index < block.size()) {
        return new Drawn(block, index); // another has replaced it
      }
      SequenceBlock next = following;
      if (next == null) {
        next = reserve(durability);
      }
      if (next == null) {
        throw new LimitException(
            LimitException.Reason.SEQUENCE_EXHAUSTED,
            "sequence "
                + name
                + " has returned all values of its range ("
                + options
                + "); create another with another name");
      }
      Drawn drawn = new Drawn(next, next.take());
      following = null;
      current = next;
      return drawn;
    } finally {
      reserving.unlock();
    }
  }

  /**
   * Reserves the next block when half of the current one is used, so that no caller has to wait for
   * it.
   */
  private void reserveAhead(SequenceBlock block, Durability durability) {
    try {
      engine.<@Nullable Object>inside(() -> {
        reserving.lock();
        try {
          if (current == block && following == null) {
            following = reserve(durability);
          }
        } finally {
          reserving.unlock();
        }
        return null;
      });
    } catch (RuntimeException notYet) {
      // This caller has its value. The caller that needs the block tries again and gets the
      // failure.
    }
  }

  /** Null if there are no numbers left. Under the lock, inside the gate. */
  private @Nullable SequenceBlock reserve(Durability durability) {
    SequenceBlock block = mark.reserve();
    if (block != null) {
      markLsn = block.lsn();
      switch (durability) {
        case DURABLE -> engine.storage().log().requestFlush(block.lsn());
        case LAZY -> engine.forceInTime(block.lsn());
      }
    }
    return block;
  }

  @Override
  public String toString() {
    return name;
  }
}
