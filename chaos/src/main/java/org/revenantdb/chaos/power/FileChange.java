package org.revenantdb.chaos.power;

import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.power.Losses.Loss;
import org.revenantdb.chaos.trace.Operation;

/** A write or truncation that is not yet durable, or not wholly. */
final class FileChange {

  final Operation operation;
  final long seq;

  /** The bytes of a write; null for a truncation. */
  final byte @Nullable [] data;

  /** The range of bytes that change: for a truncation from its size to the size before. */
  final long from;

  final long to;
  final long sizeBefore;
  final long sizeAfter;
  final int firstUnit;
  final int lastUnit;

  /** A force that should have written it failed, and no later force will write it. */
  boolean stuck;

  /** The losses wanted in the state that is being picked; computed once instead of once a unit. */
  @Nullable Loss wanted;

  /** A force covered all of it; it is about to be removed. */
  boolean durable;

  /** The size is durable, whatever happened to the bytes. */
  boolean sizeDurable;

  /**
   * The bytes up to here are below a durable size, although the size after the whole change is not
   * durable; or 0.
   */
  long sizeReached;

  /**
   * Units that can still be lost, counted from the first; null: all. Only changes that are stuck,
   * or that come before a synchronous write, lose some units from this set.
   */
  @Nullable BitSet live;

  private FileChange(
      Operation operation,
      byte @Nullable [] data,
      long from,
      long to,
      long sizeBefore,
      long sizeAfter,
      int unit) {
    this.operation = operation;
    this.seq = operation.seq();
    this.data = data;
    this.from = from;
    this.to = to;
    this.sizeBefore = sizeBefore;
    this.sizeAfter = sizeAfter;
    this.firstUnit = Math.toIntExact(from / unit);
    this.lastUnit = Math.toIntExact((to - 1) / unit);
  }

  /** A write of at least one byte. */
  static FileChange of(Operation.Write write, long size, int unit) {
    return new FileChange(
        write, write.data(), write.offset(), write.end(), size, Math.max(size, write.end()), unit);
  }

  /** A truncation of at least one byte. */
  static FileChange of(Operation.Truncate cut, long size, int unit) {
    return new FileChange(cut, null, cut.size(), size, size, cut.size(), unit);
  }

  boolean isTruncation() {
    return data == null;
  }

  boolean grows() {
    return sizeAfter > sizeBefore;
  }

  boolean resizes() {
    return sizeAfter != sizeBefore;
  }

  int units() {
    return lastUnit - firstUnit + 1;
  }

  boolean touches(int unit) {
    return unit >= firstUnit && unit <= lastUnit && (live == null || live.get(unit - firstUnit));
  }

  /** The part of the operation that a unit belongs to; a truncation has one part for all units. */
  int part(int unit) {
    return isTruncation() ? 1 : unit - firstUnit + 1;
  }

  /** The first unit with an appended byte. Only for a change that grows the file. */
  int firstAppendedUnit(int unit) {
    return Math.toIntExact(Math.max(from, sizeBefore) / unit);
  }

  /** Whether a durable size needs a unit of it to be read. No size waits for those bytes. */
  boolean isBelowDurableSize(long unitStart) {
    return sizeDurable || unitStart < sizeReached;
  }

  /**
   * Marks units that cannot be lost any more. Units of a truncation that stays pending still can.
   */
  void settle(int first, int last) {
    if (isTruncation()) {
      return;
    }
    if (live == null) {
      live = new BitSet();
      live.set(0, units());
    }
    int begin = Math.max(first, firstUnit);
    int end = Math.min(last, lastUnit);
    if (begin <= end) {
      live.clear(begin - firstUnit, end - firstUnit + 1);
    }
  }

  /** All of it can still be lost. */
  boolean isUntouched() {
    return live == null && !sizeDurable && sizeReached == 0;
  }

  /** Nothing of it can be lost any more. */
  boolean isSettled() {
    return live != null && live.isEmpty() && (sizeDurable || !resizes());
  }

  /** Changes the bytes of one unit as this operation changed them. */
  void applyTo(byte[] content, long start) {
    long begin = Math.max(from, start);
    long end = Math.min(to, start + content.length);
    if (begin >= end) {
      return;
    }
    int target = (int) (begin - start);
    int length = (int) (end - begin);
    if (data == null) {
      Arrays.fill(content, target, target + length, (byte) 0);
    } else {
      System.arraycopy(data, (int) (begin - from), content, target, length);
    }
  }
}
