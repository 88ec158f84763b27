package org.revenantdb.latch;

import org.jspecify.annotations.Nullable;

/**
 * A first-in first-out list of waiters, linked through the waiters themselves. All methods require
 * the lock of the {@link Bucket} that the queue belongs to.
 */
final class WaitQueue {
  private @Nullable WaitNode head;
  private @Nullable WaitNode tail;

  boolean isEmpty() {
    return head == null;
  }

  @Nullable WaitNode head() {
    return head;
  }

  /** The first waiter of a key, or null. */
  @Nullable WaitNode firstOf(Object owner, long tag) {
    WaitNode node = head;
    while (node != null && !node.waitsFor(owner, tag)) {
      node = node.next;
    }
    return node;
  }

  void addFirst(WaitNode node) {
    node.next = head;
    if (head == null) {
      tail = node;
    } else {
      head.previous = node;
    }
    head = node;
  }

  void addLast(WaitNode node) {
    node.previous = tail;
    if (tail == null) {
      head = node;
    } else {
      tail.next = node;
    }
    tail = node;
  }

  void remove(WaitNode node) {
    WaitNode before = node.previous;
    WaitNode after = node.next;
    if (before == null) {
      head = after;
    } else {
      before.next = after;
    }
    if (after == null) {
      tail = before;
    } else {
      after.previous = before;
    }
    node.previous = null;
    node.next = null;
  }

  int size() {
    int n = 0;
    for (WaitNode node = head; node != null; node = node.next) {
      n++;
    }
    return n;
  }
}
