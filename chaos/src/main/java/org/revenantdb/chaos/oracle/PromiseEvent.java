package org.revenantdb.chaos.oracle;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One report of a subject, complete in itself. A {@link PromiseLog} is a list of events and can be
 * rebuilt from them.
 */
public sealed interface PromiseEvent {

  /**
   * The place and the thread of a report.
   *
   * @param place from the trace's clock
   * @param thread its number, unique in its life
   * @param name of the thread
   */
  record By(long place, long thread, String name) {}

  /** The reports about a single write. */
  enum Single {
    /** It is about to be made. */
    ATTEMPT(0x00),
    /** It was promised to be durable. */
    DURABLE(0x01),
    /** It was accepted, and need not be durable. */
    LAZY(0x02),
    /** A durable reader saw it. */
    DURABLE_READ(0x03),
    /**
     * A check of the recovered store found it, without findings and while nothing else ran. So it
     * stays, and everything that was in doubt about the key is decided.
     */
    FOUND(0x04);

    /** Its code in bytes. */
    final int tag;

    Single(int tag) {
      this.tag = tag;
    }
  }

  /** The reports about a group. */
  enum Step {
    /** Its writes will be announced. */
    BEGIN(0x10),
    /** Its commit is about to be requested. */
    COMMITTING(0x11),
    /** Its commit was promised to be durable. */
    DURABLE(0x12),
    /** Its commit was accepted, and need not be durable. */
    LAZY(0x13),
    /** It was rolled back. */
    ROLLED_BACK(0x14);

    /** Its code in bytes. */
    final int tag;

    Step(int tag) {
      this.tag = tag;
    }
  }

  /**
   * A report about a single write.
   *
   * @param by its place and thread
   * @param what the report
   * @param key the key
   * @param value the new value; null: nothing
   */
  record OfWrite(By by, Single what, Bytes key, @Nullable Bytes value) implements PromiseEvent {}

  /**
   * A report about a group.
   *
   * @param by its place and thread
   * @param group its number in this life
   * @param step the report
   */
  record OfGroup(By by, long group, Step step) implements PromiseEvent {}

  /**
   * A write that belongs to a group.
   *
   * @param by its place and thread
   * @param group its number in this life
   * @param key the key
   * @param value the new value; null: removed
   */
  record Put(By by, long group, Bytes key, @Nullable Bytes value) implements PromiseEvent {}

  /**
   * Everything accepted so far is durable.
   *
   * @param by its place and thread
   */
  record AllDurable(By by) implements PromiseEvent {}

  /**
   * A life ended here in a crash. The events behind it belong to the next life, which numbers its
   * places, threads and groups anew.
   *
   * @param death whether the process died, so that there may have been work that it could no longer
   *     report
   */
  record Crash(boolean death) implements PromiseEvent {}

  /**
   * Returns the event as bytes for {@link #decode}. They end where the event ends.
   *
   * @return a new array
   */
  default byte[] encode() {
    return PromiseCodec.encode(this);
  }

  /**
   * Reads an event.
   *
   * @param source its position is behind the event afterwards
   * @return the event
   * @throws IllegalArgumentException if the bytes are not an event
   */
  static PromiseEvent decode(ByteBuffer source) {
    return PromiseCodec.decode(source);
  }
}
