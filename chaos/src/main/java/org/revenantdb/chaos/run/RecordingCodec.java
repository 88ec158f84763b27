package org.revenantdb.chaos.run;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.ImageCodec;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.CallStack;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Trace;

/** A recording as bytes, for the JVM that cuts its power. */
final class RecordingCodec {

  private static final byte CREATE = 1;
  private static final byte LINK = 2;
  private static final byte DELETE = 3;
  private static final byte RENAME = 4;
  private static final byte WRITE = 5;
  private static final byte TRUNCATE = 6;
  private static final byte FORCE = 7;
  private static final byte FORCE_FAILED = 8;

  private RecordingCodec() {}

  static void write(Recording recording, DataOutput target) throws IOException {
    Trace trace = recording.trace();
    ImageCodec.write(trace.start(), target);
    target.writeInt(trace.operations().size());
    for (Operation operation : trace.operations()) {
      write(operation, target);
    }
    write(trace.gaps(), target);
    write(trace.escapes(), target);
    recording.promises().writeTo(target);
    writeStacks(recording.promises().madeIn(), target);
    target.writeUTF(recording.verdict().name());
    writeText(recording.reason(), target);
    target.writeLong(recording.end());
    target.writeLong(recording.from());
  }

  static Recording read(DataInput source) throws IOException {
    DiskImage start = ImageCodec.read(source);
    List<Operation> operations = new ArrayList<>();
    for (int left = source.readInt(); left > 0; left--) {
      operations.add(readOperation(source));
    }
    Trace trace = new Trace(start, operations, readTexts(source), readTexts(source));
    PromiseLog promises = PromiseLog.readFrom(source).madeIn(readStacks(source));
    Verdict verdict = Verdict.valueOf(source.readUTF());
    String reason = readText(source);
    return new Recording(trace, promises, verdict, reason, source.readLong(), source.readLong());
  }

  private static void write(Operation operation, DataOutput target) throws IOException {
    switch (operation) {
      case Operation.Create(var origin, var node, var directory, var parent, var name) -> {
        begin(CREATE, origin, node, target);
        target.writeBoolean(directory);
        target.writeInt(parent);
        target.writeUTF(name);
      }
      case Operation.Link(var origin, var node, var parent, var name) -> {
        begin(LINK, origin, node, target);
        target.writeInt(parent);
        target.writeUTF(name);
      }
      case Operation.Delete(var origin, var node, var parent, var name) -> {
        begin(DELETE, origin, node, target);
        target.writeInt(parent);
        target.writeUTF(name);
      }
      case Operation.Rename rename -> {
        begin(RENAME, rename.origin(), rename.node(), target);
        target.writeInt(rename.fromParent());
        target.writeUTF(rename.fromName());
        target.writeInt(rename.toParent());
        target.writeUTF(rename.toName());
        target.writeInt(rename.replaced());
      }
      case Operation.Write(var origin, var node, var offset, var data) -> {
        begin(WRITE, origin, node, target);
        target.writeLong(offset);
        target.writeInt(data.length);
        target.write(data);
      }
      case Operation.Truncate(var origin, var node, var size) -> {
        begin(TRUNCATE, origin, node, target);
        target.writeLong(size);
      }
      case Operation.Force(var origin, var node, var since, var metadata, var only) -> {
        begin(FORCE, origin, node, target);
        target.writeLong(since);
        target.writeBoolean(metadata);
        target.writeLong(only);
      }
      case Operation.ForceFailed(var origin, var node, var since) -> {
        begin(FORCE_FAILED, origin, node, target);
        target.writeLong(since);
      }
    }
  }

  private static void begin(byte kind, Operation.Origin origin, int node, DataOutput target)
      throws IOException {
    target.writeByte(kind);
    target.writeLong(origin.seq());
    target.writeLong(origin.nanos());
    target.writeUTF(origin.thread());
    StackCodec.write(origin.stack().frames(), target);
    target.writeInt(node);
  }

  private static Operation readOperation(DataInput source) throws IOException {
    byte kind = source.readByte();
    Operation.Origin origin =
        new Operation.Origin(
            source.readLong(),
            source.readLong(),
            source.readUTF(),
            new CallStack(List.of(StackCodec.read(source))));
    int node = source.readInt();
    return switch (kind) {
      case CREATE ->
          new Operation.Create(
              origin, node, source.readBoolean(), source.readInt(), source.readUTF());
      case LINK -> new Operation.Link(origin, node, source.readInt(), source.readUTF());
      case DELETE -> new Operation.Delete(origin, node, source.readInt(), source.readUTF());
      case RENAME ->
          new Operation.Rename(
              origin,
              node,
              source.readInt(),
              source.readUTF(),
              source.readInt(),
              source.readUTF(),
              source.readInt());
      case WRITE -> {
        long offset = source.readLong();
        byte[] data = new byte[source.readInt()];
        source.readFully(data);
        yield new Operation.Write(origin, node, offset, data);
      }
      case TRUNCATE -> new Operation.Truncate(origin, node, source.readLong());
      case FORCE ->
          new Operation.Force(
              origin, node, source.readLong(), source.readBoolean(), source.readLong());
      case FORCE_FAILED -> new Operation.ForceFailed(origin, node, source.readLong());
      default -> throw new IOException("no operation has the number " + kind);
    };
  }

  /** Each stack once, because a log has few different ones. */
  private static void writeStacks(Map<Long, CallStack> byPlace, DataOutput target)
      throws IOException {
    List<CallStack> stacks = byPlace.values().stream().distinct().toList();
    Map<CallStack, Integer> numbers = new HashMap<>();
    target.writeInt(stacks.size());
    for (CallStack stack : stacks) {
      numbers.put(stack, numbers.size());
      StackCodec.write(stack.frames(), target);
    }
    target.writeInt(byPlace.size());
    for (Map.Entry<Long, CallStack> one : byPlace.entrySet()) {
      target.writeLong(one.getKey());
      target.writeInt(numbers.getOrDefault(one.getValue(), 0));
    }
  }

  private static Map<Long, CallStack> readStacks(DataInput source) throws IOException {
    List<CallStack> stacks = new ArrayList<>();
    for (int left = source.readInt(); left > 0; left--) {
      stacks.add(new CallStack(List.of(StackCodec.read(source))));
    }
    Map<Long, CallStack> byPlace = new HashMap<>();
    for (int left = source.readInt(); left > 0; left--) {
      byPlace.put(source.readLong(), stacks.get(source.readInt()));
    }
    return byPlace;
  }

  private static void write(List<String> texts, DataOutput target) throws IOException {
    target.writeInt(texts.size());
    for (String text : texts) {
      writeText(text, target);
    }
  }

  private static List<String> readTexts(DataInput source) throws IOException {
    List<String> texts = new ArrayList<>();
    for (int left = source.readInt(); left > 0; left--) {
      texts.add(readText(source));
    }
    return texts;
  }

  /** A text with a stack may be longer than {@link DataOutput#writeUTF} allows. */
  private static void writeText(String text, DataOutput target) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    target.writeInt(bytes.length);
    target.write(bytes);
  }

  private static String readText(DataInput source) throws IOException {
    byte[] bytes = new byte[source.readInt()];
    source.readFully(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
