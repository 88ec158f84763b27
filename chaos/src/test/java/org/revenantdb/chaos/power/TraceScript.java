package org.revenantdb.chaos.power;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.FileContent;
import org.revenantdb.chaos.trace.CallStack;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Trace;

/** Writes traces by hand; every call takes the next place, from 1. */
final class TraceScript {

  private final DiskImage start = new DiskImage();
  private final List<Operation> operations = new ArrayList<>();
  private long clock;
  private int nodes;

  /** A file that is there from the beginning. */
  int given(String name, byte[] bytes) {
    int node = ++nodes;
    start.create(node, false);
    start.link(DiskImage.ROOT, name, node);
    start.file(node).write(0, java.nio.ByteBuffer.wrap(bytes));
    return node;
  }

  /** A directory that is there from the beginning. */
  int givenDirectory(String name) {
    int node = ++nodes;
    start.create(node, true);
    start.link(DiskImage.ROOT, name, node);
    return node;
  }

  int create(int parent, String name) {
    operations.add(new Operation.Create(origin(), ++nodes, false, parent, name));
    return nodes;
  }

  int createDirectory(int parent, String name) {
    operations.add(new Operation.Create(origin(), ++nodes, true, parent, name));
    return nodes;
  }

  Operation link(int node, int parent, String name) {
    return add(new Operation.Link(origin(), node, parent, name));
  }

  Operation delete(int node, int parent, String name) {
    return add(new Operation.Delete(origin(), node, parent, name));
  }

  Operation rename(int node, int from, String fromName, int to, String toName, int replaced) {
    return add(new Operation.Rename(origin(), node, from, fromName, to, toName, replaced));
  }

  Operation write(int node, long offset, byte[] data) {
    return add(new Operation.Write(origin(), node, offset, data));
  }

  Operation truncate(int node, long size) {
    return add(new Operation.Truncate(origin(), node, size));
  }

  Operation.Force force(int node) {
    return force(node, clock + 1, true);
  }

  Operation.Force force(int node, long since, boolean metadata) {
    Operation.Force force = new Operation.Force(origin(), node, since, metadata);
    operations.add(force);
    return force;
  }

  /** A write through a channel whose writes are synchronous. */
  Operation.Force writeThrough(int node, long offset, byte[] data, boolean metadata) {
    Operation write = write(node, offset, data);
    long since = tick();
    Operation.Force force =
        new Operation.Force(origin(), node, since, metadata, /* only= */ write.seq());
    operations.add(force);
    return force;
  }

  Operation forceFailed(int node, long since) {
    return add(new Operation.ForceFailed(origin(), node, since));
  }

  /** A place for a promise, or for a force to begin at. */
  long tick() {
    return ++clock;
  }

  /** The last node that was created. */
  int nodes() {
    return nodes;
  }

  /** A crash point behind everything. */
  long end() {
    return clock + 1;
  }

  Trace trace() {
    return new Trace(start, operations, List.of(), List.of());
  }

  private Operation add(Operation operation) {
    operations.add(operation);
    return operation;
  }

  private Operation.Origin origin() {
    return new Operation.Origin(++clock, 0, "main", CallStack.UNKNOWN);
  }

  /** Bytes that are all the same letter. */
  static byte[] bytes(char letter, int length) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) letter);
    return bytes;
  }

  /** An image as text: paths, and contents as runs such as {@code a*512 0*100}. */
  static String describe(DiskImage image) {
    return image.paths().entrySet().stream()
        .map(entry ->
            entry.getKey()
                + (image.isDirectory(entry.getValue())
                    ? "/"
                    : "=" + describe(image.file(entry.getValue()))))
        .collect(Collectors.joining(", "));
  }

  private static String describe(FileContent content) {
    return describe(content.bytes(0, (int) content.size()));
  }

  static String describe(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    for (int from = 0, to; from < bytes.length; from = to) {
      for (to = from + 1; to < bytes.length && bytes[to] == bytes[from]; ) {
        to++;
      }
      text.append(text.isEmpty() ? "" : " ")
          .append(bytes[from] == 0 ? '0' : (char) bytes[from])
          .append('*')
          .append(to - from);
    }
    return text.toString();
  }

  /** The same form for paths and contents of states that were not built as images. */
  static String describe(Map<String, String> contents) {
    return contents.entrySet().stream()
        .map(entry -> entry.getKey() + entry.getValue())
        .collect(Collectors.joining(", "));
  }
}
