package io.stormplace;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.storm.utils.ZookeeperAuthInfo;

/** As whom the shim reads the readings in ZooKeeper. */
final class ReadingsLogin {
    private static final String FILE_SCHEME = "digest";

    private ReadingsLogin() {
    }

    /**
     * Gives the credentials; a file is read anew at each call, so that a corrected one counts.
     *
     * @param setting value of {@link ShimSettings#ZOOKEEPER_AUTH}: a path, {@code scheme:auth}, or empty
     * @param conf    Nimbus' configuration, whose own credentials are used if the setting is empty
     * @return credentials; those of {@code conf} may be none
     * @throws IOException if the file cannot be read or does not hold one line {@code user:password}
     */
    static ZookeeperAuthInfo read(String setting, Map<String, Object> conf) throws IOException {
        if (setting.isEmpty()) {
            return new ZookeeperAuthInfo(conf);
        }
        if (setting.startsWith("/")) {
            String login = Files.readString(Path.of(setting)).strip();
            if (!login.matches("[^:\\n]+:[^\\n]+")) {
                throw new IOException(setting + " does not hold one line user:password");
            }
            return new ZookeeperAuthInfo(FILE_SCHEME, login.getBytes(StandardCharsets.UTF_8));
        }
        int colon = setting.indexOf(':');
        return new ZookeeperAuthInfo(setting.substring(0, colon),
            setting.substring(colon + 1).getBytes(StandardCharsets.UTF_8));
    }
}
