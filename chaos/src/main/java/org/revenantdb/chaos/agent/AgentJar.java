package org.revenantdb.chaos.agent;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;

/**
 * A small archive for {@code -javaagent:} of a forked JVM, written at run time.
 *
 * <p>The premain class itself is not in it: the forked JVM finds it on its class path. The archive
 * has the classes that classes of {@code java.base} shall call. The JVM appends it to the path of
 * the boot loader, so there is one of each for all loaders. They may use classes of {@code
 * java.base} and of each other, and must be public: the rest of their package is in another loader,
 * which is another package to the JVM.
 *
 * {@snippet :
 * AgentJar jar = AgentJar.write(scratch, Agent.class, List.of(Bridge.class));
 * ForkedJvm.of(Main.class).flags(jar.flag("options of the agent")).fork();
 * }
 */
public final class AgentJar {

  private static final String NAME = "agent.jar";

  private final Path file;

  private AgentJar(Path file) {
    this.file = file;
  }

  /**
   * Writes an archive.
   *
   * @param directory exists and has no archive yet; its path must have no {@code =}, which ends the
   *     path in the flag
   * @param premain has a public method {@code premain(String, Instrumentation)}, and is on the
   *     class path of the forked JVM
   * @param boot the classes for the boot loader; a nested class is named beside the outer one
   * @return the archive
   * @throws IOException if it cannot be written
   */
  public static AgentJar write(Path directory, Class<?> premain, List<Class<?>> boot)
      throws IOException {
    Path file = directory.toAbsolutePath().resolve(NAME);
    if (file.toString().indexOf('=') >= 0) {
      throw new IOException("an agent cannot be loaded from a path with the character =: " + file);
    }
    Manifest manifest = new Manifest();
    Attributes main = manifest.getMainAttributes();
    main.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    main.putValue("Premain-Class", premain.getName());
    main.putValue("Can-Retransform-Classes", "true");
    main.putValue("Can-Redefine-Classes", "true");
    if (!boot.isEmpty()) {
      main.putValue("Boot-Class-Path", NAME); // beside the archive, which is the archive itself
    }
    try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(file), manifest)) {
      for (Class<?> type : boot) {
        String name = type.getName().replace('.', '/') + ".class";
        jar.putNextEntry(new ZipEntry(name));
        try (InputStream code = type.getResourceAsStream("/" + name)) {
          if (code == null) {
            throw new IOException("the code of " + type + " is not found");
          }
          code.transferTo(jar);
        }
        jar.closeEntry();
      }
    }
    return new AgentJar(file);
  }

  /**
   * Returns the flag of the JVM.
   *
   * @param options what {@code premain} receives; may be empty
   * @return one word of a command line
   */
  public String flag(String options) {
    return "-javaagent:" + file + (options.isEmpty() ? "" : "=" + options);
  }
}
