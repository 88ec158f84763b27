package org.revenantdb.chaos.oracle;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One thing that a subject said, whole in itself: a {@link PromiseLog} is a list of these, and can
 * be made again from them.
 */
public sealed interface PromiseEvent {

  /**
   * When and by whom something was said.
   *
   * @param place from the trace's clock
   * @param thread its number, unlike that of any other thread of the same life
   * @param name of the thread
   */
  record By(long place, long thread, String name) {}

  /** What is said of a single write. */
  enum Single {
    /** It is about to be made. */
    ATTEMPT(0x00),
    /** It was promised to be durable. */
    DURABLE(0x01),
    /** It was accepted, and need not be durable. */
    LAZY(0x02),
    /** A durable reader was given it. */
    DURABLE_READ(0x03),
    /**
     * A look at the recovered store found it and nothing wrong, while nobody was at work: so it
     * stays, and what had been in doubt there is decided.
     */
    FOUND(0x04);

    /** What it is in bytes. */
    final int tag;

    Single(int tag) {
      this.tag = tag;
    }
  }

  /** What is said of a group. */
  enum Step {
    /** Its writes will be announced. */
    BEGIN(0x10),
    /** Its commit is about to be asked for. */
    COMMITTING(0x11),
    /** Its commit was promised to be durable. */
    DURABLE(0x12),
    /** Its commit was accepted, and need not be durable. */
    LAZY(0x13),
    /** It was taken back. */
    ROLLED_BACK(0x14);

    /** What it is in bytes. */
    final int tag;

    Step(int tag) {
      this.tag = tag;
    }
  }

  /**
   * Something about a single write.
   *
   * @param by when and by whom
   * @param what was said
   * @param key which key
   * @param value what it becomes or became; null: nothing
   */
  record OfWrite(By by, Single what, Bytes key, @Nullable Bytes value) implements PromiseEvent {}

  /**
   * Something about a group.
   *
   * @param by when and by whom
   * @param group its number in this life
   * @param step what was said
   */
  record OfGroup(By by, long group, Step step) implements PromiseEvent {}

  /**
   * A write that belongs to a group.
   *
   * @param by when and by whom
   * @param group its number in this life
   * @param key which key
   * @param value what it becomes; null: removed
   */
  record Put(By by, long group, Bytes key, @Nullable Bytes value) implements PromiseEvent {}

  /**
   * Everything accepted so far is durable.
   *
   * @param by when and by whom
   */
  record AllDurable(By by) implements PromiseEvent {}

  /**
   * A life ended here in a crash. What follows was said in the next life: places, threads and
   * groups are numbered anew.
   *
   * @param death whether it was the death of the process, so that something may have been under way
   *     that nobody could say any more
   */
  record Crash(boolean death) implements PromiseEvent {}

  /**
   * The event as bytes that {@link #decode} understands. They end where the event ends.
   *
   * @return a new array
   */
  default byte[] encode() {
    return PromiseCodec.encode(this);
  }

  /**
   * Reads an event.
   *
   * @param source stands behind the event afterwards
   * @return the event
   * @throws IllegalArgumentException if this is no event
   */
  static PromiseEvent decode(ByteBuffer source) {
    return PromiseCodec.decode(source);
  }
}
