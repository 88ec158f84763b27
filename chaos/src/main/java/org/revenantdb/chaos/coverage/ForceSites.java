package org.revenantdb.chaos.coverage;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.constantpool.LoadableConstantEntry;
import java.lang.classfile.constantpool.MethodHandleEntry;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LineNumber;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.revenantdb.chaos.crash.ClassPath;

/**
 * Finds in class files the places where a store forces its files, including places that no run
 * reaches.
 *
 * <p>A place is a call from outside the seam of {@code FileChannel.force} or a similar method, or
 * of a method of the seam that leads to one. Calls by reflection are not found.
 *
 * <p>Threads: one.
 */
public final class ForceSites {
  /*
   * Reads all calls of all classes once. To find the seam's methods that can reach a force, it
   * walks backwards from the forces of the JDK until nothing is added. It follows only calls inside
   * the seam, because outside the seam the first frame is already the site. Overriding is ignored:
   * a seam consists of final classes or is called by its own type.
   */

  private static final Set<Method> FORCES =
      Set.of(
          new Method("java/nio/channels/FileChannel", "force"),
          new Method("java/nio/channels/AsynchronousFileChannel", "force"),
          new Method("java/nio/MappedByteBuffer", "force"),
          new Method("java/lang/foreign/MemorySegment", "force"),
          new Method("java/io/FileDescriptor", "sync"));

  private record Method(String owner, String name) {}

  private record Call(Method from, int line, Method to) {}

  private ForceSites() {}

  /**
   * Returns all places.
   *
   * @param code classes whose folder or archive is searched
   * @param seam names of classes, or of packages with a dot at the end
   * @return the places, sorted
   */
  public static SortedSet<CallSite> find(List<Class<?>> code, List<String> seam) {
    List<Call> calls = new ArrayList<>();
    Set<String> places = new TreeSet<>();
    code.forEach(type -> places.add(ClassPath.of(type)));
    places.forEach(place -> readAll(Path.of(place), calls));
    Set<Method> forcing = new HashSet<>(FORCES);
    boolean grown = true;
    while (grown) {
      grown = false;
      for (Call call : calls) {
        if (forcing.contains(call.to) && isIn(seam, call.from.owner)) {
          grown |= forcing.add(call.from);
        }
      }
    }
    SortedSet<CallSite> sites = new TreeSet<>();
    for (Call call : calls) {
      if (forcing.contains(call.to) && !isIn(seam, call.from.owner)) {
        sites.add(new CallSite(call.from.owner.replace('/', '.'), call.from.name, call.line));
      }
    }
    return sites;
  }

  private static boolean isIn(List<String> seam, String owner) {
    String name = owner.replace('/', '.');
    return seam.stream()
        .anyMatch(entry ->
            entry.endsWith(".")
                ? name.startsWith(entry)
                : name.equals(entry) || name.startsWith(entry + "$"));
  }

  private static void readAll(Path place, List<Call> calls) {
    try {
      if (Files.isDirectory(place)) {
        readTree(place, calls);
        return;
      }
      URI jar = URI.create("jar:" + place.toUri());
      try (FileSystem archive = FileSystems.newFileSystem(jar, Map.of())) {
        readTree(archive.getPath("/"), calls);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the classes in " + place, e);
    }
  }

  private static void readTree(Path root, List<Call> calls) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.walk(root)) {
      files = all.filter(file -> file.toString().endsWith(".class")).sorted().toList();
    }
    for (Path file : files) {
      ClassModel model = ClassFile.of().parse(Files.readAllBytes(file));
      for (MethodModel method : model.methods()) {
        read(model.thisClass().asInternalName(), method, calls);
      }
    }
  }

  private static void read(String owner, MethodModel method, List<Call> calls) {
    Method from = new Method(owner, method.methodName().stringValue());
    int line = 0;
    for (CodeElement element : method.code().map(CodeModel::elementList).orElse(List.of())) {
      switch (element) {
        case LineNumber number -> line = number.line();
        case InvokeInstruction call ->
            calls.add(
                new Call(
                    from,
                    line,
                    new Method(call.owner().asInternalName(), call.name().stringValue())));
        case InvokeDynamicInstruction call -> addReferences(from, line, call, calls);
        default -> {}
      }
    }
  }

  /**
   * Treats a method reference as a call at the line where it is created, which is the nearest
   * information in class files.
   */
  private static void addReferences(
      Method from, int line, InvokeDynamicInstruction call, List<Call> calls) {
    for (LoadableConstantEntry argument : call.invokedynamic().bootstrap().arguments()) {
      if (argument instanceof MethodHandleEntry handle
          && !handle.reference().name().stringValue().startsWith("lambda$")) {
        calls.add(
            new Call(
                from,
                line,
                new Method(
                    handle.reference().owner().asInternalName(),
                    handle.reference().name().stringValue())));
      }
    }
  }
}
