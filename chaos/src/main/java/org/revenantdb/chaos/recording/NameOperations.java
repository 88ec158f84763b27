package org.revenantdb.chaos.recording;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.ClosedFileSystemException;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.spi.FileSystemProvider;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.fault.FileOperation.Kind;
import org.revenantdb.chaos.trace.Operation;

/**
 * The operations that change names: open, create, link, delete, rename, copy. All paths belong to
 * the file system below.
 *
 * <p>Threads: any. Each operation holds the lock of the name space from the request for a fault
 * until the shadow is updated.
 */
final class NameOperations {
  /*
   * Steps of an operation on a name below the directory: look the name up in the shadow; request a
   * fault; take the place; do it below; update the shadow and add it to the trace. If the operation
   * throws, shadow and trace stay as they were, and so did the names.
   *
   * The shadow decides what an operation is, so it must be right. It becomes wrong if another
   * program changes the directory during the recording. If an operation finds a file that the
   * recording does not know, it notes a gap and takes the file over. compare() detects other
   * changes at the end. It compares names, so unseen writes to a known file stay unknown.
   */

  private static final int CHUNK = 1 << 20;

  private final RecordingFileSystem fileSystem;
  private final FileSystemProvider below;
  private final Recorder recorder;
  private final NameSpace space;
  private final DiskImage start;

  NameOperations(
      RecordingFileSystem fileSystem,
      FileSystemProvider below,
      Recorder recorder,
      NameSpace space,
      DiskImage start) {
    this.fileSystem = fileSystem;
    this.below = below;
    this.recorder = recorder;
    this.space = space;
    this.start = start;
  }

  /** An entry below the directory, as the shadow knows it. */
  private record Entry(Path path, String text, @Nullable Node parent, String name) {

    @Nullable Node node() {
      return parent == null ? null : parent.entries().get(name);
    }
  }

  /**
   * The entry for a path; null if the path is outside the directory, or is the directory itself.
   */
  private @Nullable Entry entry(Path path) {
    List<String> names = fileSystem.locate(path);
    return names == null || names.isEmpty()
        ? null
        : new Entry(path, String.join("/", names), space.parent(names), names.getLast());
  }

  /** An operation that changes names. */
  @FunctionalInterface
  private interface Change<T extends @Nullable Object> {
    T make() throws IOException;
  }

  private <T extends @Nullable Object> T alone(Change<T> change) throws IOException {
    space.lock().lock();
    try {
      return change.make();
    } finally {
      space.lock().unlock();
    }
  }

  // Opening

  /** Opens a file or directory; see {@link RecordingChannel} for what interruptible means. */
  RecordingChannel open(
      Path path,
      Set<? extends OpenOption> options,
      boolean interruptible,
      FileAttribute<?>... attributes)
      throws IOException {
    OpenMode mode = OpenMode.of(options);
    return alone(() -> {
      List<String> names = fileSystem.locate(path);
      if (names == null) {
        return outside(path, mode, options, interruptible, attributes);
      }
      Entry entry = entry(path);
      Caller caller = recorder.changing();
      return entry == null
          ? root(path, mode, options, interruptible, caller)
          : open(entry, mode, options, interruptible, caller, attributes);
    });
  }

  private RecordingChannel open(
      Entry entry,
      OpenMode mode,
      Set<? extends OpenOption> options,
      boolean interruptible,
      Caller caller,
      FileAttribute<?>... attributes)
      throws IOException {
    Node known = entry.node();
    boolean creates = known == null && entry.parent() != null && mode.create();
    Strike opening = recorder.ask(Kind.OPEN, entry.text(), caller).before();
    Strike creating =
        creates ? recorder.ask(Kind.CREATE, entry.text(), caller).before() : Strike.NONE;
    FileChannel channel;
    if (known != null && mode.truncate()) {
      channel = openAndCut(entry, known, options, caller, attributes);
    } else {
      long place = recorder.place();
      channel = below.newFileChannel(entry.path(), options, attributes);
      if (creates) {
        create(entry, /* directory= */ false, place, caller);
      }
    }
    recorder.counter().other();
    Node node = known == null ? foundOrMade(entry, caller) : known;
    boolean vanishes = node != null && options.contains(StandardOpenOption.DELETE_ON_CLOSE);
    if (node != null && vanishes) {
      // On Unix the name is deleted at once.
      noteIfGone(entry, node, caller);
    }
    creating.after();
    opening.after();
    return new RecordingChannel(
        recorder,
        new Around(vanishes ? entry : null, node, caller),
        channel,
        mode,
        node,
        entry.text(),
        interruptible);
  }

  private FileChannel openAndCut(
      Entry entry,
      Node node,
      Set<? extends OpenOption> options,
      Caller caller,
      FileAttribute<?>... attributes)
      throws IOException {
    node.content().lock();
    try {
      boolean cuts = !node.isDirectory() && Files.size(entry.path()) > 0;
      Strike cutting =
          cuts ? recorder.ask(Kind.TRUNCATE, entry.text(), caller).before() : Strike.NONE;
      long place = recorder.place();
      FileChannel channel = below.newFileChannel(entry.path(), options, attributes);
      if (cuts) {
        recorder.record(place, caller, origin -> new Operation.Truncate(origin, node.number(), 0));
        cutting.after();
      }
      return channel;
    } finally {
      node.content().unlock();
    }
  }

  private RecordingChannel root(
      Path path,
      OpenMode mode,
      Set<? extends OpenOption> options,
      boolean interruptible,
      Caller caller)
      throws IOException {
    Strike opening = recorder.ask(Kind.OPEN, "", caller).before();
    FileChannel channel = below.newFileChannel(path, options);
    recorder.counter().other();
    opening.after();
    return new RecordingChannel(
        recorder,
        new Around(null, space.root(), caller),
        channel,
        mode,
        space.root(),
        "the directory",
        interruptible);
  }

  private RecordingChannel outside(
      Path path,
      OpenMode mode,
      Set<? extends OpenOption> options,
      boolean interruptible,
      FileAttribute<?>... attributes)
      throws IOException {
    boolean there = exists(path);
    boolean cuts = there && mode.truncate() && Files.size(path) > 0;
    FileChannel channel = below.newFileChannel(path, options, attributes);
    if (!there && mode.create()) {
      recorder.escape("the creation of " + path);
    } else if (cuts) {
      recorder.escape("a truncation of " + path);
    }
    return new RecordingChannel(
        recorder,
        new Around(null, null, recorder.changing()),
        channel,
        mode,
        null,
        path.toString(),
        interruptible);
  }

  // Creating

  void createDirectory(Path path, FileAttribute<?>... attributes) throws IOException {
    alone(() -> {
      Entry entry = entry(path);
      if (entry == null || entry.node() != null || entry.parent() == null) {
        below.createDirectory(path, attributes);
        recorder.escape("the creation of " + path);
        return path;
      }
      Caller caller = recorder.changing();
      Strike strike = recorder.ask(Kind.CREATE, entry.text(), caller).before();
      long place = recorder.place();
      below.createDirectory(path, attributes);
      recorder.counter().other();
      create(entry, /* directory= */ true, place, caller);
      strike.after();
      return path;
    });
  }

  void createLink(Path link, Path existing) throws IOException {
    alone(() -> {
      Entry to = entry(link);
      Entry from = entry(existing);
      Node node = from == null ? null : from.node();
      Node parent = to == null ? null : to.parent();
      if (to == null || parent == null || from == null || node == null) {
        below.createLink(link, existing);
        if (to == null) {
          recorder.escape("a link " + link);
        } else {
          recorder.gap("a link " + link + " to a file outside of the directory");
          foundOrMade(to, recorder.changing());
        }
        return link;
      }
      Caller caller = recorder.changing();
      Strike strike = recorder.ask(Kind.CREATE, to.text(), caller).before();
      long place = recorder.place();
      below.createLink(link, existing);
      recorder.counter().other();
      space.enter(parent, to.name(), node);
      recorder.record(
          place,
          caller,
          origin -> new Operation.Link(origin, node.number(), parent.number(), to.name()));
      strike.after();
      return link;
    });
  }

  void createSymbolicLink(Path link, Path target, FileAttribute<?>... attributes)
      throws IOException {
    below.createSymbolicLink(link, target, attributes);
    if (entry(link) == null) {
      recorder.escape("the creation of " + link);
    } else {
      recorder.wayAround("a symbolic link is not recorded: " + link);
    }
  }

  // Deleting

  void delete(Path path) throws IOException {
    alone(() -> {
      Entry entry = entry(path);
      if (entry == null) {
        below.delete(path);
        recorder.escape("the deletion of " + path);
      } else {
        delete(entry, recorder.changing());
      }
      return path;
    });
  }

  private void delete(Entry entry, Caller caller) throws IOException {
    Node node = entry.node();
    if (node == null) {
      below.delete(entry.path());
      recorder.gap(
          "the deletion of something that was created outside the recording: " + entry.path());
      return;
    }
    Strike strike = recorder.ask(Kind.DELETE, entry.text(), caller).before();
    long place = recorder.place();
    below.delete(entry.path());
    recorder.counter().other();
    leave(entry, node, place, caller);
    strike.after();
  }

  // Renaming

  void move(Path source, Path target, CopyOption... options) throws IOException {
    alone(() -> {
      Entry from = entry(source);
      Entry to = entry(target);
      Caller caller = recorder.changing();
      if (from != null && to != null) {
        move(from, to, caller, options);
        return target;
      }
      Node moving = from == null ? null : from.node();
      Node replaced = to == null ? null : to.node();
      long place = recorder.place();
      below.move(source, target, options);
      recorder.escape("a move of " + source + " to " + target);
      if (from != null && moving != null) {
        leave(from, moving, place, caller);
      }
      if (to != null) {
        if (replaced != null) {
          leave(to, replaced, place, caller);
        }
        takeOver(to, caller);
      }
      return target;
    });
  }

  private void move(Entry from, Entry to, Caller caller, CopyOption... options) throws IOException {
    List<CopyOption> how = Arrays.asList(options);
    Node moving = from.node();
    Node fromParent = from.parent();
    Node toParent = to.parent();
    if (moving == null || fromParent == null || toParent == null) {
      below.move(from.path(), to.path(), options);
      recorder.gap("a move of something that was created outside the recording: " + from.path());
      return;
    }
    if (moving == to.node()) {
      // Two names of one file: most systems keep both and report no error.
      below.move(from.path(), to.path(), options);
      noteIfGone(from, moving, caller);
      return;
    }
    boolean replaces = how.contains(StandardCopyOption.REPLACE_EXISTING);
    if (to.node() != null && replaces && !how.contains(StandardCopyOption.ATOMIC_MOVE)) {
      delete(to, caller);
    }
    Strike strike = recorder.ask(Kind.RENAME, to.text(), caller).before();
    long place = recorder.place();
    below.move(from.path(), to.path(), options);
    recorder.counter().other();
    space.leave(fromParent, from.name());
    Node replaced = space.enter(toParent, to.name(), moving);
    recorder.record(
        place,
        caller,
        origin ->
            new Operation.Rename(
                origin,
                moving.number(),
                fromParent.number(),
                from.name(),
                toParent.number(),
                to.name(),
                replaced == null ? Operation.NO_NODE : replaced.number()));
    strike.after();
  }

  // Copying

  void copy(Path source, Path target, CopyOption... options) throws IOException {
    alone(() -> {
      Entry to = entry(target);
      if (to == null) {
        below.copy(source, target, options);
        recorder.escape("a copy to " + target);
        return target;
      }
      Entry from = entry(source);
      Node old = to.node();
      Caller caller = recorder.changing();
      if (from != null && from.node() != null && from.node() == old) {
        below.copy(source, target, options);
        return target;
      }
      long size = Files.isRegularFile(source) ? Files.size(source) : 0;
      Strike strike = recorder.ask(Kind.CREATE, to.text(), 0, size, size, caller).before();
      try {
        below.copy(source, target, options);
      } catch (IOException e) {
        if (old != null) {
          noteIfGone(to, old, caller);
        }
        throw e;
      }
      if (old != null) {
        leave(to, old, recorder.place(), caller);
      }
      takeOver(to, caller);
      strike.after();
      return target;
    });
  }

  // Updating the shadow

  private Node create(Entry entry, boolean directory, long place, Caller caller) {
    Node parent = entry.parent();
    if (parent == null) {
      throw new IllegalStateException("no directory for " + entry.text());
    }
    Node node = space.create(directory);
    space.enter(parent, entry.name(), node);
    recorder.record(
        place,
        caller,
        origin ->
            new Operation.Create(origin, node.number(), directory, parent.number(), entry.name()));
    return node;
  }

  private void leave(Entry entry, Node node, long place, Caller caller) {
    Node parent = entry.parent();
    if (parent == null) {
      throw new IllegalStateException("no directory for " + entry.text());
    }
    space.leave(parent, entry.name());
    recorder.record(
        place,
        caller,
        origin -> new Operation.Delete(origin, node.number(), parent.number(), entry.name()));
  }

  /** Checks whether the file system below has deleted a name on its own. */
  private void noteIfGone(Entry entry, Node node, Caller caller) {
    if (entry.node() == node && !exists(entry.path())) {
      leave(entry, node, recorder.place(), caller);
    }
  }

  /** The node of an entry that certainly exists. */
  private @Nullable Node foundOrMade(Entry entry, Caller caller) throws IOException {
    if (entry.node() == null) {
      recorder.gap("something was created outside the recording: " + entry.path());
      if (entry.parent() != null && exists(entry.path())) {
        takeOver(entry, caller);
      }
    }
    return entry.node();
  }

  /** Takes over something new with all its content, including everything below it. */
  private void takeOver(Entry entry, Caller caller) throws IOException {
    boolean directory = Files.isDirectory(entry.path());
    Node node = create(entry, directory, recorder.place(), caller);
    recorder.counter().other();
    if (directory) {
      try (DirectoryStream<Path> children = below.newDirectoryStream(entry.path(), any -> true)) {
        for (Path child : children) {
          String name = String.valueOf(child.getFileName());
          takeOver(new Entry(child, entry.text() + "/" + name, node, name), caller);
        }
      }
    } else {
      takeOverContent(entry.path(), node, caller);
    }
  }

  private void takeOverContent(Path file, Node node, Caller caller) throws IOException {
    long at = 0;
    try (InputStream in = below.newInputStream(file)) {
      byte[] data = in.readNBytes(CHUNK);
      while (data.length > 0) {
        takeOverBytes(node, at, data, caller);
        at += data.length;
        data = in.readNBytes(CHUNK);
      }
    }
  }

  private void takeOverBytes(Node node, long offset, byte[] data, Caller caller) {
    recorder.counter().write(data.length);
    recorder.record(
        recorder.place(),
        caller,
        origin -> new Operation.Write(origin, node.number(), offset, data));
  }

  // Changes that bypass the recording

  /**
   * Compares the existing names with those of the shadow. Notes as a gap what was created or
   * deleted by other means than this file system, such as a path made from a text.
   */
  void compare() {
    space.lock().lock();
    try {
      compare(fileSystem.below(""), space.root());
    } catch (IOException | DirectoryIteratorException | ClosedFileSystemException e) {
      // The disk is closed, for instance one in memory. Then there is nothing to compare.
    } finally {
      space.lock().unlock();
    }
  }

  private void compare(Path directory, Node node) throws IOException {
    Set<String> missing = new TreeSet<>(node.entries().keySet());
    try (DirectoryStream<Path> children = below.newDirectoryStream(directory, any -> true)) {
      for (Path child : children) {
        String name = String.valueOf(child.getFileName());
        Node known = node.entries().get(name);
        missing.remove(name);
        if (known == null && !Files.isSymbolicLink(child)) {
          // Links were noted as gaps when they were made.
          recorder.found("something was created outside the recording: " + child);
        } else if (known != null && known.isDirectory()) {
          compare(child, known);
        }
      }
    }
    for (String name : missing) {
      recorder.found("something was deleted outside the recording: " + directory.resolve(name));
    }
  }

  private boolean exists(Path path) {
    return below.exists(path, LinkOption.NOFOLLOW_LINKS);
  }

  /** The access to names that a channel needs. */
  private final class Around implements RecordingChannel.Surroundings {

    private final @Nullable Entry vanishing;
    private final @Nullable Node node;
    private final Caller opener;

    /** The entry may be deleted when the channel is closed; null if none can be. */
    Around(@Nullable Entry vanishing, @Nullable Node node, Caller opener) {
      this.vanishing = vanishing;
      this.node = node;
      this.opener = opener;
    }

    @Override
    public byte[] former(Node file, long position, int length) {
      file.content().lock();
      try {
        return FormerContent.bytes(
            start, file.number(), recorder.writesOf(file.number()), position, length);
      } finally {
        file.content().unlock();
      }
    }

    @Override
    public long size(Node file) throws IOException {
      Path path = fileSystem.below(file.path());
      return exists(path) ? Files.size(path) : -1;
    }

    @Override
    public FileChannel reopen(Node file) throws IOException {
      return below.newFileChannel(
          fileSystem.below(file.path()), Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE));
    }

    @Override
    public void close(FileChannel channel) throws IOException {
      Entry entry = vanishing;
      Node file = node;
      if (entry == null || file == null) {
        channel.close();
        return;
      }
      alone(() -> {
        channel.close();
        noteIfGone(entry, file, opener);
        return channel;
      });
    }
  }
}
