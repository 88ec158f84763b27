package org.revenantdb.chaos.run;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Reader;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Scratch;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.FileContent;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.subject.Verdict;

/**
 * A failure in a file, with everything needed to reproduce it: the image before the opening that
 * failed, and the promises (docs/chaos.md §9).
 *
 * <p>It is a zip, so that it can be read without this program.
 *
 * @param subject binary name of the subject's class
 * @param verdict of the failure
 * @param title one line
 * @param seed the seed of the run
 * @param crash the platform profile, or {@code PROCESS_DEATH}, or the fault
 * @param seq the crash point: promises made before it count
 * @param image the files as the crash left them
 * @param promises the log of promises
 * @param story the smallest set of operations that causes it, with stacks
 */
public record FailureFile(
    String subject,
    Verdict verdict,
    String title,
    long seed,
    String crash,
    long seq,
    DiskImage image,
    PromiseLog promises,
    String story) {

  private static final String FORMAT = "revenant-chaos failure";
  private static final String VERSION = "1";
  private static final String PROPERTIES = "failure.properties";
  private static final String PROMISES = "promises";
  private static final String STORY = "story.txt";
  private static final String IMAGE = "image/";
  private static final String CURE = "give the .zip of a failure; the run printed its path";
  private static final Set<String> OTHERS = Set.of(PROPERTIES, PROMISES, STORY);
  private static final int PART = 1 << 16;
  private static final Duration LIMIT = Duration.ofMinutes(1);

  /**
   * Writes a failure's file, in one step.
   *
   * @param directory the directory, created if needed; null: write no file
   * @param failure the failure
   * @return the file, or null if there is no directory
   * @throws IOException if it cannot be written
   */
  public static @Nullable Path keep(@Nullable Path directory, FailureFile failure)
      throws IOException {
    if (directory == null) {
      return null;
    }
    Files.createDirectories(directory);
    String simple = failure.subject.substring(failure.subject.lastIndexOf('.') + 1);
    Path file =
        directory.resolve(
            "%s-%s-%016x.zip"
                .formatted(
                    simple.replace('$', '.'),
                    failure.verdict,
                    failure.image.hash() ^ failure.seq * 0x9E3779B97F4A7C15L));
    Path beside = Files.createTempFile(directory, "failure", ".tmp");
    try {
      try (OutputStream out = Files.newOutputStream(beside)) {
        failure.writeTo(out);
      }
      Files.move(beside, file, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(beside);
    }
    return file;
  }

  private void writeTo(OutputStream out) throws IOException {
    try (ZipOutputStream zip = new ZipOutputStream(out)) {
      Properties properties = new Properties();
      properties.setProperty("format", FORMAT);
      properties.setProperty("version", VERSION);
      properties.setProperty("subject", subject);
      properties.setProperty("verdict", verdict.name());
      properties.setProperty("title", title);
      properties.setProperty("seed", Long.toString(seed));
      properties.setProperty("crash", crash);
      properties.setProperty("seq", Long.toString(seq));
      StringWriter text = new StringWriter();
      properties.store(text, null);
      put(zip, PROPERTIES, text.toString().getBytes(StandardCharsets.UTF_8));
      put(zip, STORY, story.getBytes(StandardCharsets.UTF_8));
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      promises.writeTo(new DataOutputStream(bytes));
      put(zip, PROMISES, bytes.toByteArray());
      for (Map.Entry<String, Integer> entry : image.paths().entrySet()) {
        putImage(zip, entry.getKey(), entry.getValue());
      }
    }
  }

  private void putImage(ZipOutputStream zip, String path, int node) throws IOException {
    if (image.isDirectory(node)) {
      put(zip, IMAGE + path + "/", new byte[0]);
      return;
    }
    zip.putNextEntry(new ZipEntry(IMAGE + path));
    long size = image.file(node).size();
    for (long at = 0; at < size; at += PART) {
      zip.write(image.file(node).bytes(at, (int) Math.min(PART, size - at)));
    }
    zip.closeEntry();
  }

  private static void put(ZipOutputStream zip, String name, byte[] bytes) throws IOException {
    zip.putNextEntry(new ZipEntry(name));
    zip.write(bytes);
    zip.closeEntry();
  }

  /**
   * Reads a failure's file.
   *
   * @param file written by this version
   * @return the failure
   * @throws IOException with a message for people, if the file cannot be read, is not such a file,
   *     is damaged, or has another version
   */
  public static FailureFile read(Path file) throws IOException {
    if (file.toString().isEmpty()) {
      throw new IOException("the name of a file is missing; " + CURE);
    }
    if (Files.isDirectory(file)) {
      throw new IOException(file + " is a directory; " + CURE);
    }
    try (ZipFile zip = new ZipFile(file.toFile())) {
      return read(zip, file);
    } catch (NoSuchFileException e) {
      throw new IOException("there is no file " + file + "; " + CURE, e);
    } catch (ZipException e) {
      throw new IOException(
          "%s is no file of a failure, or a damaged one (%s); %s"
              .formatted(file, e.getMessage(), CURE),
          e);
    } catch (EOFException e) {
      throw new IOException(file + " is damaged: it is cut short", e);
    } catch (IllegalArgumentException e) {
      throw new IOException(file + " is damaged: " + e.getMessage(), e);
    }
  }

  private static FailureFile read(ZipFile zip, Path file) throws IOException {
    Properties properties = new Properties();
    try (Reader in =
        new StringReader(new String(bytes(zip, file, PROPERTIES), StandardCharsets.UTF_8))) {
      properties.load(in);
    }
    demand(file, properties, "format", FORMAT);
    demand(file, properties, "version", VERSION);
    return new FailureFile(
        property(file, properties, "subject"),
        Verdict.valueOf(property(file, properties, "verdict")),
        property(file, properties, "title"),
        Long.parseLong(property(file, properties, "seed")),
        property(file, properties, "crash"),
        Long.parseLong(property(file, properties, "seq")),
        image(zip, file),
        promises(zip, file),
        new String(bytes(zip, file, STORY), StandardCharsets.UTF_8));
  }

  private static PromiseLog promises(ZipFile zip, Path file) throws IOException {
    byte[] bytes = bytes(zip, file, PROMISES);
    try {
      return PromiseLog.readFrom(new DataInputStream(new ByteArrayInputStream(bytes)));
    } catch (IOException e) {
      throw new IOException(file + " is damaged: " + e.getMessage(), e);
    }
  }

  private static byte[] bytes(ZipFile zip, Path file, String name) throws IOException {
    ZipEntry entry = zip.getEntry(name);
    if (entry == null) {
      throw new IOException(file + " is no file of a failure: it has no \"" + name + "\"; " + CURE);
    }
    return zip.getInputStream(entry).readAllBytes();
  }

  private static String property(Path file, Properties properties, String name) throws IOException {
    String value = properties.getProperty(name);
    if (value == null) {
      throw new IOException(file + " is damaged: " + PROPERTIES + " says no " + name);
    }
    return value;
  }

  private static void demand(Path file, Properties properties, String name, String value)
      throws IOException {
    String found = property(file, properties, name);
    if (!found.equals(value)) {
      throw new IOException(
          "%s cannot be replayed: its %s is \"%s\", and this program reads \"%s\"; replay it with the version that wrote it"
              .formatted(file, name, found, value));
    }
  }

  private static DiskImage image(ZipFile zip, Path file) throws IOException {
    DiskImage image = new DiskImage();
    int node = DiskImage.ROOT;
    for (ZipEntry entry : Collections.list(zip.entries())) {
      String name = entry.getName();
      if (OTHERS.contains(name)) {
        continue;
      }
      if (!name.startsWith(IMAGE)) {
        throw new IOException(file + " is no file of a failure: a run keeps no \"" + name + "\"");
      }
      String path = name.substring(IMAGE.length());
      // Split with -1 leaves an empty name if one is missing; a directory ends in "/".
      List<String> names = new ArrayList<>(List.of(path.split("/", -1)));
      if (entry.isDirectory() && names.size() > 1) {
        names.removeLast();
      }
      node++;
      int parent = directory(image, names, file, name);
      image.create(node, entry.isDirectory());
      image.link(parent, names.getLast(), node);
      if (!entry.isDirectory()) {
        fill(image.file(node), zip.getInputStream(entry));
      }
    }
    return image;
  }

  /** The directory of the last name. The names come from a file, so they must be checked. */
  private static int directory(DiskImage image, List<String> names, Path file, String entry)
      throws IOException {
    int parent = DiskImage.ROOT;
    for (int i = 0; i < names.size(); i++) {
      String name = names.get(i);
      if (name.isEmpty() || name.equals(".") || name.equals("..") || name.indexOf('\0') >= 0) {
        throw new IOException(file + " is damaged: \"" + entry + "\" is no path inside its image");
      }
      Integer node = image.lookup(parent, name);
      if (i == names.size() - 1) {
        if (node != null) {
          throw new IOException(file + " is damaged: \"" + entry + "\" is there twice");
        }
      } else if (node == null || !image.isDirectory(node)) {
        throw new IOException(
            file + " is damaged: a directory is missing before \"" + entry + "\"");
      } else {
        parent = node;
      }
    }
    return parent;
  }

  /** Copies in parts, because a file may be large and mostly consist of holes. */
  private static void fill(FileContent content, InputStream source) throws IOException {
    try (source) {
      long size = 0;
      byte[] part = source.readNBytes(PART);
      while (part.length > 0) {
        content.write(size, ByteBuffer.wrap(part));
        size += part.length;
        part = source.readNBytes(PART);
      }
      content.setSize(size);
    }
  }

  /**
   * Opens the image again and checks it.
   *
   * @return the result this time
   * @throws IOException with a message for people, if the subject's class is missing
   */
  public StateResult replay() throws IOException {
    return replay(LIMIT);
  }

  /**
   * Opens the image again and checks it.
   *
   * @param limit the time after which it counts as hanging
   * @return the result this time
   * @throws IOException with a message for people, if the subject's class is missing
   */
  public StateResult replay(Duration limit) throws IOException {
    return new PatientChecker<>(Subjects.named(subject), /* resume= */ true, limit)
        .at(image.fork(), promises, seq);
  }

  /**
   * Opens the image again in a real directory, for a store that uses its files by any means.
   *
   * @param limit the time after which it counts as hanging
   * @return the result this time
   * @throws IOException with a message for people, if the subject's class is missing or the image
   *     cannot be written
   */
  public StateResult replayOnDisk(Duration limit) throws IOException {
    Path directory = Scratch.directory("replay");
    image.writeTo(directory);
    try {
      return new PatientChecker<>(Subjects.named(subject), /* resume= */ true, limit)
          .in(directory, promises, seq);
    } finally {
      Scratch.delete(directory);
    }
  }
}
